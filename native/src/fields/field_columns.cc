#include "fields/field_columns.hpp"

#include <span>

#include "common/limits.hpp"
#include "common/utf8.hpp"
#include "json/write.hpp"

namespace tessera {

namespace {

/// Fields with a column of their own. The values of further ones are kept together.
constexpr size_t FIELD_COLUMNS_MAX = 1024;
/// Values of one row that are in columns. Further ones are kept together.
constexpr size_t FIELD_ROW_ENTRIES_MAX = 256;
/// No filter names a longer field, in UTF-16 units. It bounds the depth of a row, too.
constexpr size_t FIELD_PATH_MAX_CHARS = 2048;

/// Visits a field with its value: the fields in an object too, and each element of an array. A null is not visited.
template <typename Visit>
class FieldWalk {
 public:
  FieldWalk(JsonReader& json, const Visit& visit) : json_(json), visit_(visit) {}

  /// Visits the members of an object, whose paths begin with `path_`.
  void members() {
    json_.eachMember([this](const std::u16string& name) {
      const size_t length = path_.size();
      path_ += name;
      // A filter cannot name these, because dots lead into objects.
      const bool isNamed =
          !name.empty() && name.find(u'.') == std::u16string::npos && path_.size() <= FIELD_PATH_MAX_CHARS;
      if (isNamed) {
        field();
      } else {
        json_.skip();
      }
      path_.resize(length);
    });
  }

 private:
  void field() {
    if (json_.next() == u'[') {
      bool hasValue = false;
      json_.eachElement([&] {
        const auto value = readValue(json_);
        if (value) visit_(path_, *value);
        hasValue = hasValue || value.has_value();
      });
      if (!hasValue) visit_(path_, FieldValue{});
    } else if (json_.next() == u'{') {
      visit_(path_, FieldValue{});
      path_ += u'.';
      members();
    } else if (const auto value = readValue(json_)) {
      visit_(path_, *value);
    }
  }

  JsonReader& json_;
  const Visit& visit_;
  std::u16string path_;
};

/// Appends an entry of a text of `rest`.
void appendRest(std::string& rest, std::u16string_view path, ValueView value) {
  rest += rest.empty() ? "[[" : ",[";
  appendString(rest, path);
  rest += ',';
  appendValue(rest, value);
  rest += ']';
}

}  // namespace

const FieldColumn* FieldColumns::find(std::u16string_view path) const {
  const auto found = byPath_.find(path);
  return found == byPath_.end() ? nullptr : found->second;
}

FieldColumn& FieldColumns::open(std::u16string_view path) {
  if (const auto found = byPath_.find(path); found != byPath_.end()) return *found->second;
  NamedColumn& added = *columns_.emplace_back(std::make_unique<NamedColumn>(NamedColumn{std::u16string(path), {}}));
  byPath_.emplace(added.path, &added.column);
  return added.column;
}

void FieldColumns::add(uint32_t row, JsonReader& json) {
  std::string rest;
  size_t count = 0;
  const auto visit = [&](std::u16string_view path, ValueView value) {
    const bool mayOpen = columns_.size() < FIELD_COLUMNS_MAX;
    const bool hasColumn = count++ < FIELD_ROW_ENTRIES_MAX && (mayOpen || byPath_.contains(path));
    if (hasColumn) {
      open(path).add(row, value);
    } else {
      appendRest(rest, path, value);
    }
  };
  FieldWalk(json, visit).members();
  if (rest.empty()) return;
  rest += ']';
  std::u16string text;
  decodeUtf8({reinterpret_cast<const uint8_t*>(rest.data()), rest.size()}, text);
  rest_.add(row, textValue(text));
}

FieldColumns FieldColumns::renumbered(std::span<const uint32_t> numbers) const {
  FieldColumns kept;
  for (const auto& each : columns_) {
    FieldColumn column = each->column.renumbered(numbers);
    if (!column.rows().empty()) kept.open(each->path) = std::move(column);
  }
  kept.rest_ = rest_.renumbered(numbers);
  return kept;
}

size_t FieldColumns::bytes() const {
  size_t bytes = rest_.bytes();
  for (const auto& each : columns_) bytes += sizeof(NamedColumn) + 2 * each->path.capacity() + each->column.bytes();
  return bytes;
}

std::vector<FieldValue> valuesInRest(ValueView text, std::u16string_view path) {
  std::vector<FieldValue> values;
  const std::u16string units = unitsOf(text);
  JsonReader json(units);
  json.eachElement([&] {
    bool isPath = true;
    bool isWanted = false;
    json.eachElement([&] {
      if (isPath) {
        isWanted = json.string() == path;
      } else if (isWanted) {
        values.push_back(readValue(json).value_or(FieldValue{}));
      } else {
        json.skip();
      }
      isPath = false;
    });
  });
  return values;
}

}  // namespace tessera
