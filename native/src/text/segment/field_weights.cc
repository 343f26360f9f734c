#include "text/segment/field_weights.hpp"

#include <algorithm>
#include <string>

#include "text/analysis/surface_form.hpp"

namespace tessera {

using View = std::u16string_view;

static constexpr FieldWeight SUMMARY{2.5, 0.4, 15};
static constexpr FieldWeight LABELS{1.5, 0.4, 5};
static constexpr FieldWeight OTHER_KEY{0.7, 0.5, 8};
/// The title has a field of its own.
static constexpr FieldWeight TITLE_KEY{0, 0, 1};

static constexpr View SUMMARY_KEYS[] = {u"description", u"summary",  u"abstract",
                                        u"excerpt",     u"subtitle", u"lead"};
static constexpr View LABEL_KEYS[] = {u"keywords", u"tags",      u"categories", u"topics",
                                      u"aliases",  u"linktitle", u"slug"};

FieldWeight keyWeight(View key) {
  const std::u16string lower = lowerCase(key);
  const auto isIn = [&](const auto& keys) { return std::ranges::find(keys, lower) != std::end(keys); };
  if (lower == u"title") return TITLE_KEY;
  if (isIn(SUMMARY_KEYS)) return SUMMARY;
  return isIn(LABEL_KEYS) ? LABELS : OTHER_KEY;
}

}  // namespace tessera
