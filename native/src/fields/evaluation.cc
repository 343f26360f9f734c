#include "fields/evaluation.hpp"

#include <algorithm>

namespace tessera {

/// The outcomes for the values of a column are remembered if it has no more.
static constexpr uint32_t REMEMBERED_VALUES_MAX = 8192;
/// Rows of a mask that are combined in the time of a unit of work.
static constexpr size_t MASK_ROWS_PER_WORK = 4;

static constexpr uint8_t FAILS = 1;
static constexpr uint8_t PASSES = 2;

void Evaluation::restart() {
  frames_.clear();
  tests_.clear();
  isPending_ = false;
  glob_.at = 0;
}

void Evaluation::begin(const FieldStore& store, RowRange versions, RowMask wanted) {
  versions_ = versions;
  chunks_ = {store.firstChunks()[versions.first], store.firstChunks()[versions.end]};
  frames_.clear();
  frames_.push_back({.condition = &condition_, .left = std::move(wanted)});
}

bool Evaluation::step(const FieldStore& store, size_t& work) {
  while (!frames_.empty()) {
    if (work >= STEP_WORK) return false;
    Frame& frame = frames_.back();
    const Condition& condition = *frame.condition;
    work += 1 + frame.left.size() / MASK_ROWS_PER_WORK;
    if (condition.kind == Condition::Kind::comparison) {
      if (!compare(store, frame, work)) return false;
      finish(std::move(frame.found));
    } else if (frame.part < condition.parts.size()) {
      frame.found.resize(frame.left.size());
      Frame next{.condition = &condition.parts[frame.part++], .left = frame.left};
      frames_.push_back(std::move(next));
    } else {
      const bool areAll = condition.kind == Condition::Kind::all;
      frame.found.resize(frame.left.size());
      finish(areAll ? std::move(frame.left) : std::move(frame.found));
    }
  }
  return true;
}

/// Ends the innermost condition. The one around it goes on with the rows that are still open.
void Evaluation::finish(RowMask matches) {
  frames_.pop_back();
  if (frames_.empty()) {
    result_ = std::move(matches);
    return;
  }
  Frame& frame = frames_.back();
  if (frame.condition->kind == Condition::Kind::all) {
    frame.left = std::move(matches);
    return;
  }
  const bool isNegation = frame.condition->kind == Condition::Kind::negation;
  for (size_t i = 0; i < matches.size(); i++) {
    const uint8_t others = frame.left[i] & ~matches[i];
    frame.found[i] |= isNegation ? others : matches[i];
    frame.left[i] = others;
  }
}

RowRange Evaluation::rowsOf(const Comparison& comparison) const {
  return comparison.root == FieldRoot::metadata ? chunks_ : versions_;
}

/// Replaces the wanted chunks by their versions.
void Evaluation::toVersions(const FieldStore& store, Frame& frame) const {
  frame.chunks = std::move(frame.left);
  frame.left.assign(versions_.size(), 0);
  size_t chunk = 0;
  for (uint32_t version = versions_.first; version < versions_.end; version++) {
    const uint32_t end = store.firstChunks()[version + 1] - chunks_.first;
    for (; chunk < end; chunk++) frame.left[version - versions_.first] |= frame.chunks[chunk];
  }
}

/// Replaces the versions that were found by their wanted chunks.
void Evaluation::toChunks(const FieldStore& store, Frame& frame) const {
  const RowMask found = std::move(frame.found);
  frame.found = std::move(frame.chunks);
  size_t chunk = 0;
  for (uint32_t version = versions_.first; version < versions_.end; version++) {
    const uint32_t end = store.firstChunks()[version + 1] - chunks_.first;
    for (; chunk < end; chunk++) frame.found[chunk] &= found[version - versions_.first];
  }
}

bool Evaluation::compare(const FieldStore& store, Frame& frame, size_t& work) {
  const Comparison& comparison = frame.condition->comparison;
  const RowRange rows = rowsOf(comparison);
  const bool isOfVersions = byChunk_ && comparison.root != FieldRoot::metadata;
  std::vector<ColumnTest>& tests = testsOf(store, comparison);
  if (frame.found.empty()) {
    if (isOfVersions) toVersions(store, frame);
    frame.found.assign(rows.size(), 0);
  }
  for (; frame.part < tests.size(); frame.part++, frame.hasBegun = false) {
    const auto entries = tests[frame.part].column->rows();
    if (!frame.hasBegun) {
      const auto first = std::ranges::lower_bound(entries, rows.first);
      frame.entry = static_cast<size_t>(first - entries.begin());
      frame.entryEnd = static_cast<size_t>(std::lower_bound(first, entries.end(), rows.end) - entries.begin());
      frame.hasBegun = true;
    }
    if (!compareEntries(tests[frame.part], frame, rows.first, work)) return false;
  }
  if (isOfVersions) toChunks(store, frame);
  return true;
}

/// Marks the wanted rows that have an entry which passes. False if it must go on later.
bool Evaluation::compareEntries(ColumnTest& test, Frame& frame, uint32_t first, size_t& work) {
  const Comparison& comparison = frame.condition->comparison;
  if (comparison.test == Operator::equals && !test.isRest && test.codes.empty()) return true;
  const auto rows = test.column->rows();
  const auto codes = test.column->codes();
  for (; frame.entry < frame.entryEnd; frame.entry++) {
    if (work >= STEP_WORK) return false;
    work += COMPARISON_WORK;
    const uint32_t row = rows[frame.entry] - first;
    if (frame.left[row] == 0 || frame.found[row] != 0) continue;
    const auto outcome = outcomeOf(comparison, test, codes[frame.entry], work);
    if (!outcome) return false;
    frame.found[row] = *outcome ? 1 : 0;
  }
  return true;
}

/// Whether a value of a column passes. Nothing if the comparison takes another step.
std::optional<bool> Evaluation::outcomeOf(const Comparison& comparison, ColumnTest& test, uint32_t code,
                                          size_t& work) {
  if (test.isRest) return restOutcome(comparison, test.column->value(code), work);
  if (comparison.test == Operator::exists) return true;
  if (comparison.test == Operator::equals) {
    return test.codes.size() == 1 ? code == test.codes[0] : std::ranges::binary_search(test.codes, code);
  }
  if (code == FieldColumn::EXISTS) return false;
  const bool isRemembered = code < test.outcomes.size();
  if (isRemembered && test.outcomes[code] != 0) return test.outcomes[code] == PASSES;
  const auto outcome = passes(comparison, test.column->value(code), work);
  if (isRemembered && outcome) test.outcomes[code] = *outcome ? PASSES : FAILS;
  return outcome;
}

/// The same for values that have no column of their own. Each text of them ends the step.
std::optional<bool> Evaluation::restOutcome(const Comparison& comparison, ValueView text, size_t& work) {
  if (!isPending_) {
    pending_ = valuesInRest(text, comparison.path);
    pendingAt_ = 0;
    isPending_ = true;
    work = std::max(work, STEP_WORK);
    if (comparison.test == Operator::exists || pending_.empty()) {
      isPending_ = false;
      return !pending_.empty();
    }
  }
  for (; pendingAt_ < pending_.size(); pendingAt_++) {
    if (work >= STEP_WORK) return std::nullopt;
    work += COMPARISON_WORK;
    const auto outcome = passes(comparison, pending_[pendingAt_], work);
    if (!outcome) return std::nullopt;
    if (!*outcome) continue;
    isPending_ = false;
    return true;
  }
  isPending_ = false;
  return false;
}

/// Whether one value passes. Nothing if the comparison takes another step.
std::optional<bool> Evaluation::passes(const Comparison& comparison, ValueView value, size_t& work) {
  switch (comparison.test) {
    case Operator::exists:
      return true;
    case Operator::equals:
      return comparison.keys.contains(keyOf(value));
    case Operator::prefix:
      return value.isText() && startsWith(value, comparison.prefix);
    case Operator::glob: {
      if (!value.isText()) return false;
      const auto outcome = comparison.glob->advance(value, glob_, STEP_WORK - std::min(work, STEP_WORK), work);
      if (outcome) glob_.at = 0;
      return outcome;
    }
    default:
      break;
  }
  const auto order = compareValues(value, comparison.operands.front());
  if (!order) return false;
  switch (comparison.test) {
    case Operator::above:
      return *order > 0;
    case Operator::notBelow:
      return *order >= 0;
    case Operator::below:
      return *order < 0;
    default:
      return *order <= 0;
  }
}

/// The columns that may have values of a field.
std::vector<ColumnTest>& Evaluation::testsOf(const FieldStore& store, const Comparison& comparison) {
  const auto [found, isNew] = tests_.try_emplace(&comparison);
  std::vector<ColumnTest>& tests = found->second;
  if (!isNew) return tests;
  if (const FieldColumn* column = store.find(comparison.root, comparison.path)) {
    ColumnTest test{.column = column};
    for (const FieldValue& operand : comparison.operands) {
      const uint32_t code = comparison.test == Operator::equals ? column->find(operand) : FieldColumn::EXISTS;
      if (code != FieldColumn::EXISTS) test.codes.push_back(code);
    }
    std::ranges::sort(test.codes);
    if (column->codeCount() <= REMEMBERED_VALUES_MAX) test.outcomes.assign(column->codeCount(), 0);
    tests.push_back(std::move(test));
  }
  const FieldColumns* columns = store.columns(comparison.root);
  if (columns != nullptr && !columns->rest().rows().empty()) {
    tests.push_back({.column = &columns->rest(), .isRest = true});
  }
  return tests;
}

}  // namespace tessera
