#include "fields/value_count.hpp"

#include <algorithm>
#include <bit>

#include "common/limits.hpp"
#include "json/write.hpp"

namespace tessera {

/// Entries or values of one step.
static constexpr size_t STEP_ENTRIES = 4'096;

ValueCount::ValueCount(std::shared_ptr<const FieldStore> store, CountRequest request)
    : store_(std::move(store)), request_(std::move(request)) {
  auto lock = store_->reading();
  column_ = store_->find(request_.root, request_.path);
  const FieldColumns* columns = store_->columns(request_.root);
  rest_ = columns == nullptr ? nullptr : &columns->rest();
  if (rest_ != nullptr) others_ = static_cast<uint32_t>(rest_->rows().size());
  if (column_ == nullptr) return;
  entries_ = static_cast<uint32_t>(column_->rows().size());
  codes_ = column_->codeCount();
  lock.unlock();
  counts_.assign(codes_, 0);
  lastWith_.assign(codes_, 0);
}

/// Visits the next ones. False if none is left of the step.
template <typename Visit>
bool ValueCount::each(uint32_t& at, uint32_t end, size_t& left, const Visit& visit) {
  for (; at < end; at++) {
    if (left-- == 0) return false;
    visit(at);
  }
  return true;
}

bool ValueCount::step() {
  const auto lock = store_->reading();
  size_t left = STEP_ENTRIES;
  if (!each(other_, others_, left, [this](uint32_t at) { countOther(at); })) return false;
  if (entry_ == 0) version_ = 0;
  while (entry_ < entries_) {
    if (left-- == 0) return false;
    advanceTo(column_->rows()[entry_]);
    if (hasNumber(request_.versions, version_)) {
      countEntry(entry_++);
    } else {
      skip();
    }
  }
  return each(code_, codes_, left, [this](uint32_t code) { rank(code); });
}

/// Notes the version of a row. The rows ascend.
void ValueCount::advanceTo(uint32_t row) {
  if (request_.root != FieldRoot::metadata) {
    version_ = row;
    return;
  }
  while (store_->firstChunks()[version_ + 1] <= row) version_++;
}

void ValueCount::countOther(uint32_t entry) {
  advanceTo(rest_->rows()[entry]);
  if (!hasNumber(request_.versions, version_)) return;
  hasOthers_ = true;
  other_ = others_ - 1;
}

/// Moves to the entries of the next version that is counted.
void ValueCount::skip() {
  const auto& set = request_.versions;
  uint32_t word = (version_ + 1) >> 5;
  uint32_t bits = word < set.size() ? set[word] & (~0u << ((version_ + 1) & 31)) : 0;
  while (bits == 0 && ++word < set.size()) bits = set[word];
  version_ = bits == 0 ? NONE : word * 32 + static_cast<uint32_t>(std::countr_zero(bits));
  if (version_ >= store_->versions()) {
    entry_ = entries_;
    return;
  }
  const uint32_t row = request_.root == FieldRoot::metadata ? store_->firstChunks()[version_] : version_;
  // Versions that are counted are often near each other.
  const auto rows = column_->rows().first(entries_);
  size_t step = 1;
  while (entry_ + step < rows.size() && rows[entry_ + step] < row) step *= 2;
  const auto near = rows.subspan(entry_, std::min(step + 1, rows.size() - entry_));
  entry_ += static_cast<uint32_t>(std::ranges::lower_bound(near, row) - near.begin());
}

void ValueCount::countEntry(uint32_t entry) {
  const uint32_t row = column_->rows()[entry];
  const uint32_t code = column_->codes()[entry];
  // The column may have got further values meanwhile, none of them for rows that were there before.
  if (code == FieldColumn::EXISTS || code >= codes_) return;
  if (request_.root == FieldRoot::metadata && request_.chunks && !hasNumber(*request_.chunks, row)) return;
  if (last_ != version_ + 1) files_++;
  last_ = version_ + 1;
  if (lastWith_[code] == last_) return;
  lastWith_[code] = last_;
  counts_[code]++;
}

bool ValueCount::isBefore(const Counted& a, const Counted& b) const {
  if (a.files != b.files) return a.files > b.files;
  const ValueView first = column_->value(a.code);
  const ValueView second = column_->value(b.code);
  if (typeOf(first) != typeOf(second)) return typeOf(first) < typeOf(second);
  return compareValues(first, second).value_or(0) < 0;
}

/// Lists a value if it is one of the best.
void ValueCount::rank(uint32_t code) {
  if (counts_[code] == 0) return;
  const ValueView value = column_->value(code);
  distinct_++;
  if (!hasType(typeOf(value))) types_.push_back(typeOf(value));
  if (value.isText() && value.length() > request_.charsMax) return;
  const Counted counted{code, counts_[code]};
  if (best_.size() == request_.valuesMax) {
    if (best_.empty() || !isBefore(counted, best_.back())) return;
    best_.pop_back();
  }
  const auto isFirst = [this](const Counted& a, const Counted& b) { return isBefore(a, b); };
  best_.insert(std::ranges::upper_bound(best_, counted, isFirst), counted);
}

bool ValueCount::hasType(std::string_view type) const { return std::ranges::find(types_, type) != types_.end(); }

std::string ValueCount::json() const {
  const auto lock = store_->reading();
  std::string json = "[";
  for (const Counted& each : best_) {
    if (json.size() > 1) json += ',';
    json += R"({"value":)";
    appendValue(json, column_->value(each.code));
    json += R"(,"count":)";
    appendNumber(json, each.files);
    json += '}';
  }
  return json + ']';
}

}  // namespace tessera
