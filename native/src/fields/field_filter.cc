#include "fields/field_filter.hpp"

#include <algorithm>
#include <stdexcept>

namespace tessera {

namespace {

/// Objects within objects of a filter; `checkFilter` allows fewer.
constexpr size_t FILTER_DEPTH_MAX = 64;

Condition combined(Condition::Kind kind, std::vector<Condition> parts) {
  const bool areAll = kind == Condition::Kind::all;
  const auto decides = [&](const Condition& part) { return areAll ? part.isNever() : part.isAlways(); };
  if (std::ranges::any_of(parts, decides)) return {areAll ? Condition::Kind::any : Condition::Kind::all, {}, {}};
  std::erase_if(parts, [&](const Condition& part) { return areAll ? part.isAlways() : part.isNever(); });
  if (parts.size() == 1) return std::move(parts.front());
  return {kind, std::move(parts), {}};
}

Condition negated(Condition part) {
  if (part.isAlways()) return {Condition::Kind::any, {}, {}};
  if (part.isNever()) return {};
  Condition negation{Condition::Kind::negation, {}, {}};
  negation.parts.push_back(std::move(part));
  return negation;
}

Comparison fieldOf(std::u16string_view key) {
  Comparison field;
  FieldName name = fieldNamed(key);
  field.root = name.root;
  field.path = std::move(name.path);
  return field;
}

/// Reads conditions from the JSON text of a filter.
class FilterReader {
 public:
  explicit FilterReader(std::u16string_view json) : json_(json) {}

  Condition read() {
    Condition condition = filter();
    json_.end();
    return condition;
  }

 private:
  Condition filter() {
    const Nested nested(depth_);
    std::vector<Condition> parts;
    json_.eachMember([&](const std::u16string& key) {
      if (key == u"$not") {
        parts.push_back(negated(filter()));
      } else if (key == u"$and" || key == u"$or") {
        parts.push_back(combined(key == u"$and" ? Condition::Kind::all : Condition::Kind::any, filters()));
      } else {
        parts.push_back(field(fieldOf(key)));
      }
    });
    return combined(Condition::Kind::all, std::move(parts));
  }

  struct Nested {
    explicit Nested(size_t& depth) : depth(depth) {
      if (++depth > FILTER_DEPTH_MAX) throw std::invalid_argument("a filter is too deep");
    }
    ~Nested() { depth--; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

    size_t& depth;
  };

  std::vector<Condition> filters() {
    std::vector<Condition> parts;
    json_.eachElement([&] { parts.push_back(filter()); });
    return parts;
  }

  /// All operators of a field, or the value that it must equal. In an array, different elements may pass different
  /// operators.
  Condition field(const Comparison& field) {
    if (json_.next() != u'{') return equal(field, {value()});
    const Nested nested(depth_);
    std::vector<Condition> parts;
    json_.eachMember([&](const std::u16string& name) { parts.push_back(operation(field, name)); });
    return combined(Condition::Kind::all, std::move(parts));
  }

  Condition operation(const Comparison& field, std::u16string_view name) {
    if (name == u"$eq") return equal(field, {value()});
    if (name == u"$ne") return negated(equal(field, {value()}));
    if (name == u"$in") return equal(field, values());
    if (name == u"$nin") return negated(equal(field, values()));
    if (name == u"$not") return negated(this->field(field));
    if (name == u"$exists") return json_.literal() ? compare(field) : negated(compare(field));
    Comparison comparison = field;
    if (name == u"$prefix") {
      comparison.test = Operator::prefix;
      comparison.prefix = json_.string();
    } else if (name == u"$glob") {
      comparison.test = Operator::glob;
      comparison.glob = std::make_shared<const Glob>(json_.string());
    } else {
      comparison.test = orderOf(name);
      comparison.operands.push_back(value());
    }
    return compare(std::move(comparison));
  }

  static Operator orderOf(std::u16string_view name) {
    if (name == u"$gt") return Operator::above;
    if (name == u"$gte") return Operator::notBelow;
    if (name == u"$lt") return Operator::below;
    if (name == u"$lte") return Operator::notAbove;
    throw std::invalid_argument("a filter has an unknown operator");
  }

  static Condition compare(Comparison comparison) {
    return {Condition::Kind::comparison, {}, std::move(comparison)};
  }

  static Condition equal(Comparison field, std::vector<FieldValue> values) {
    field.test = Operator::equals;
    for (const FieldValue& each : values) field.keys.insert(keyOf(each));
    field.operands = std::move(values);
    return compare(std::move(field));
  }

  FieldValue value() {
    const auto read = readValue(json_);
    if (!read) throw std::invalid_argument("a filter has no value to compare");
    return *read;
  }

  std::vector<FieldValue> values() {
    std::vector<FieldValue> read;
    json_.eachElement([&] { read.push_back(value()); });
    return read;
  }

  JsonReader json_;
  size_t depth_ = 0;
};

}  // namespace

std::string keyOf(ValueView value) {
  std::string buffer;
  return static_cast<char>(value.kind) + std::string(identityOf(value, buffer));
}

bool Condition::usesMetadata() const {
  if (kind == Kind::comparison) return comparison.root == FieldRoot::metadata;
  return std::ranges::any_of(parts, &Condition::usesMetadata);
}

FieldName fieldNamed(std::u16string_view name) {
  const size_t dot = std::min(name.find(u'.'), name.size());
  FieldName field;
  const std::u16string_view root = name.substr(0, dot);
  if (root == u"frontmatter") {
    field.root = FieldRoot::frontmatter;
  } else if (root == u"metadata") {
    field.root = FieldRoot::metadata;
  } else if (root != u"path") {
    throw std::invalid_argument("a filter or a facet names no field");
  }
  if (dot < name.size()) field.path = name.substr(dot + 1);
  return field;
}

Condition compileFilter(std::u16string_view json) { return FilterReader(json).read(); }

}  // namespace tessera
