#include "text/query/lookup.hpp"

#include <algorithm>
#include <cmath>

#include "json/write.hpp"
#include "text/query/browse.hpp"
#include "text/page/matched_fields.hpp"
#include "text/query/plan.hpp"
#include "text/page/returned_paths.hpp"

namespace tessera {

/// Scores are shown with four decimals.
static constexpr int SCORE_DECIMALS = 4;
static constexpr double SCORE_SCALE = 10'000;

void appendScore(std::string& out, double score) {
  const auto scaled = static_cast<uint64_t>(std::floor(std::max(0.0, score) * SCORE_SCALE + 0.5));
  std::string digits = std::to_string(scaled);
  if (digits.size() <= SCORE_DECIMALS) digits.insert(0, SCORE_DECIMALS + 1 - digits.size(), '0');
  digits.insert(digits.size() - SCORE_DECIMALS, 1, '.');
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
  out += digits;
}

void appendSnippet(std::string& out, std::string_view name, const Snippet& snippet) {
  out += ',';
  appendString(out, name);
  out += R"(:{"text":)";
  appendString(out, snippet.text);
  out += R"(,"matches":[)";
  for (const auto& [start, end] : snippet.matches) {
    if (out.back() != '[') out += ',';
    out += '[';
    appendNumber(out, start);
    out += ',';
    appendNumber(out, end);
    out += ']';
  }
  out += "]}";
}

namespace {

/// Appends the start of an item up to the names of the fields that matched.
void openItem(std::string& out, const TextSegment& segment, uint32_t document) {
  out += R"({"path":)";
  appendString(out, segment.path(document));
  out += R"(,"matched_fields":)";
}

/// Appends the part of an item after the names of the fields.
void continueItem(std::string& out, const TextSegment& segment, uint32_t document) {
  out += R"(,"frontmatter":)";
  out += segment.frontmatter(document);
  out += R"(,"title":)";
  appendString(out, segment.title(document));
}

/// Finds and renders one page.
class PageMaker {
 public:
  PageMaker(TextView& view, const LookupRequest& request,
       LookupScratch& scratch, LookupAnswer& answer)
      : view_(view),
        segments_(view.segments()),
        request_(request),
        scratch_(scratch),
        answer_(answer) {
    answer.progress.clear();
    answer.shardItems = view.countInShard(request.shard);
  }

  void make() {
    if (request_.query) {
      search();
    } else {
      list();
    }
    render();
  }

 private:
  void search() {
    const ReturnedPaths returned(request_.progress);
    TextQuery query = planQuery(view_, request_.analysed, request_.shard);
    query.limit = request_.limit + returned.size() + 1;
    auto [total, matches] = rankText(segments_, query, scratch_.rank);
    std::erase_if(matches, [&](const TextMatch& match) { return returned.has(pathOf(match)); });
    answer_.total = total;
    answer_.more = matches.size() > request_.limit;
    if (answer_.more) matches.resize(request_.limit);
    items_.resize(matches.size());
    for (uint32_t s = 0; s < segments_.size(); s++) renderMatches(s, query, matches);
    if (!answer_.more) return;
    answer_.progress = request_.progress;
    for (const TextMatch& match : matches) ReturnedPaths::append(answer_.progress, pathOf(match));
  }

  std::string_view pathOf(const TextMatch& match) const {
    return segments_[match.segment].path(match.document);
  }

  /// Renders the matches of one segment.
  void renderMatches(uint32_t number, const TextQuery& query, std::span<const TextMatch> matches) {
    const auto isOwn = [&](const TextMatch& match) { return match.segment == number; };
    if (std::ranges::none_of(matches, isOwn)) return;
    const TextSegment& segment = segments_[number];
    const TermMarks marks(segment, number, query, scratch_.rank.marks);
    Snippeter snippeter(segment, marks, query, scratch_.texts);
    Snippet snippet;
    for (size_t i = 0; i < matches.size(); i++) {
      if (!isOwn(matches[i])) continue;
      const uint32_t document = matches[i].document;
      std::string& item = items_[i];
      openItem(item, segment, document);
      appendMatchedFields(item, segment, document, marks);
      continueItem(item, segment, document);
      if (snippeter.snippet(document, snippet)) appendSnippet(item, "snippet", snippet);
      item += R"(,"score":)";
      appendScore(item, matches[i].score);
      item += '}';
    }
  }

  /// Browsing has a fixed order and needs only the last path.
  void list() {
    auto found = browse(view_, request_.shard, request_.progress, request_.limit + 1);
    answer_.total = answer_.shardItems;
    answer_.more = found.size() > request_.limit;
    if (answer_.more) found.pop_back();
    for (const auto& [number, document] : found) {
      const TextSegment& segment = segments_[number];
      std::string& item = items_.emplace_back();
      openItem(item, segment, document);
      item += "[]";
      continueItem(item, segment, document);
      item += '}';
    }
    if (!answer_.more) return;
    answer_.progress = segments_[found.back().segment].path(found.back().document);
  }

  void render() {
    std::string& out = answer_.json;
    out.assign(R"({"query":)");
    appendString(out, request_.query.value_or(u""));
    out += request_.query ? R"(,"mode":"search","data":[)" : R"(,"mode":"browse","data":[)";
    for (const std::string& item : items_) {
      if (&item != &items_.front()) out += ',';
      out += item;
    }
    out += "],";
    appendPageInfo(out, request_.selfPath, answer_.more ? &request_.next : nullptr);
    out += R"(,"returned":)";
    appendNumber(out, items_.size());
    out += R"(,"total_matches":)";
    appendNumber(out, answer_.total);
    out += R"(,"shard":{"shard_index":)";
    appendNumber(out, request_.shard.index);
    out += R"(,"shard_count":)";
    appendNumber(out, request_.shard.count);
    out += R"(,"total_items":)";
    appendNumber(out, answer_.shardItems);
    out += "}}";
  }

  TextView& view_;
  std::span<const TextSegment> segments_;
  const LookupRequest& request_;
  LookupScratch& scratch_;
  LookupAnswer& answer_;
  /// In JSON.
  std::vector<std::string> items_;
};

}  // namespace

void lookUp(TextView& view, const LookupRequest& request,
            LookupScratch& scratch, LookupAnswer& answer) {
  PageMaker(view, request, scratch, answer).make();
}

}  // namespace tessera
