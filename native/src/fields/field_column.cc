#include "fields/field_column.hpp"

#include <stdexcept>

#include "common/keyed_hash.hpp"
#include "common/limits.hpp"

namespace tessera {

static constexpr size_t FIRST_SLOTS = 16;

ValueView FieldColumn::value(uint32_t code) const {
  if (code == EXISTS) return {};
  const size_t start = starts_[code];
  const size_t end = code + 1 < starts_.size() ? starts_[code + 1] : values_.size();
  return {static_cast<ValueKind>(values_[start]), std::string_view(values_).substr(start + 1, end - start - 1)};
}

uint64_t FieldColumn::hashOf(ValueView value) const {
  std::string buffer;
  const std::string_view identity = identityOf(value, buffer);
  return keyedHash(identity.data(), identity.size()) + static_cast<uint64_t>(value.kind);
}

uint32_t FieldColumn::find(ValueView wanted) const {
  if (slots_.empty()) return EXISTS;
  const size_t mask = slots_.size() - 1;
  for (size_t at = hashOf(wanted) & mask;; at = (at + 1) & mask) {
    if (slots_[at] == EXISTS || isSameValue(value(slots_[at]), wanted)) return slots_[at];
  }
}

void FieldColumn::add(uint32_t row, ValueView value) {
  uint32_t code = EXISTS;
  if (value.kind != ValueKind::nothing) {
    code = find(value);
    if (code == EXISTS) code = addValue(value);
  }
  rows_.push_back(row);
  codes_.push_back(code);
}

uint32_t FieldColumn::addValue(ValueView value) {
  if (codeCount() == NONE) throw std::length_error("a field has too many values");
  if (2 * starts_.size() > slots_.size()) grow();
  starts_.push_back(values_.size());
  values_ += static_cast<char>(value.kind);
  values_ += value.bytes;
  insert(codeCount() - 1);
  return codeCount() - 1;
}

void FieldColumn::addEntry(uint32_t row, uint32_t code, uint32_t rowEnd) {
  if (row >= rowEnd || code >= codeCount() || (!rows_.empty() && row < rows_.back())) {
    throw std::invalid_argument("an entry of a field cannot follow");
  }
  rows_.push_back(row);
  codes_.push_back(code);
}

void FieldColumn::insert(uint32_t code) {
  const size_t mask = slots_.size() - 1;
  size_t at = hashOf(value(code)) & mask;
  while (slots_[at] != EXISTS) at = (at + 1) & mask;
  slots_[at] = code;
}

void FieldColumn::grow() {
  const std::vector<uint32_t> before = std::move(slots_);
  slots_.assign(before.empty() ? FIRST_SLOTS : 2 * before.size(), EXISTS);
  for (const uint32_t code : before) {
    if (code != EXISTS) insert(code);
  }
}

FieldColumn FieldColumn::renumbered(std::span<const uint32_t> numbers) const {
  FieldColumn column;
  for (size_t i = 0; i < rows_.size(); i++) {
    if (numbers[rows_[i]] != NONE) column.add(numbers[rows_[i]], value(codes_[i]));
  }
  return column;
}

size_t FieldColumn::bytes() const {
  const size_t numbers = rows_.capacity() + codes_.capacity() + slots_.capacity();
  return sizeof(FieldColumn) + 4 * numbers + 8 * starts_.capacity() + values_.capacity();
}

}  // namespace tessera
