// The evaluation of a condition over a block of file versions, in short steps.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "fields/field_filter.hpp"

namespace tessera {

/// The work of one step: units of texts times words of states. A simple comparison counts as COMPARISON_WORK.
inline constexpr size_t STEP_WORK = 65'536;
inline constexpr size_t COMPARISON_WORK = 16;

/// 1 for each selected row of a block.
using RowMask = std::vector<uint8_t>;

/// Consecutive rows: versions, or chunks.
struct RowRange {
  uint32_t first = 0;
  uint32_t end = 0;

  uint32_t size() const { return end - first; }
};

/// The values of one column that pass a comparison. Values that the column gets later may fail wrongly: no row that was
/// there before has them.
struct ColumnTest {
  const FieldColumn* column = nullptr;
  /// Whether the values are texts of FieldColumns::rest().
  bool isRest = false;
  /// The codes that pass an `equals`, ascending.
  std::vector<uint32_t> codes{};
  /// The outcome of each code, if the column has few: 1 for a code that fails, 2 for one that passes, 0 if not known.
  std::vector<uint8_t> outcomes{};
};

class Evaluation {
 public:
  /// @param condition of the caller
  /// @param byChunk evaluates chunks; else versions
  Evaluation(const Condition& condition, bool byChunk) : condition_(condition), byChunk_(byChunk) {}

  /// Begins with the versions of a block of which some rows are wanted.
  void begin(const FieldStore& store, RowRange versions, RowMask wanted);
  /// Goes on until `work` is STEP_WORK or the block is done. Then it returns true, and `matches` has the wanted rows
  /// that match.
  bool step(const FieldStore& store, size_t& work);
  const RowMask& matches() const { return result_; }
  /// Forgets the columns, which may have others by now.
  void restart();

 private:
  /// A condition that is being evaluated.
  struct Frame {
    const Condition* condition;
    /// The rows to test: those that the parts before have left.
    RowMask left{};
    /// The rows that match.
    RowMask found{};
    /// The next part, or column.
    size_t part = 0;
    /// The next entry of the column, and the one after the last.
    size_t entry = 0;
    size_t entryEnd = 0;
    bool hasBegun = false;
    /// The rows of chunks that a condition on versions is asked for.
    RowMask chunks{};
  };

  RowRange rowsOf(const Comparison& comparison) const;
  bool compare(const FieldStore& store, Frame& frame, size_t& work);
  bool compareEntries(ColumnTest& test, Frame& frame, uint32_t first, size_t& work);
  std::optional<bool> outcomeOf(const Comparison& comparison, ColumnTest& test, uint32_t code, size_t& work);
  std::optional<bool> restOutcome(const Comparison& comparison, ValueView text, size_t& work);
  std::optional<bool> passes(const Comparison& comparison, ValueView value, size_t& work);
  std::vector<ColumnTest>& testsOf(const FieldStore& store, const Comparison& comparison);
  void finish(RowMask matches);
  void toVersions(const FieldStore& store, Frame& frame) const;
  void toChunks(const FieldStore& store, Frame& frame) const;

  const Condition& condition_;
  bool byChunk_;
  RowRange versions_;
  RowRange chunks_;
  std::vector<Frame> frames_;
  RowMask result_;
  std::map<const Comparison*, std::vector<ColumnTest>> tests_;
  /// The comparison of a value that goes on in the next step.
  GlobProgress glob_;
  /// The values of a text of `rest` that are being compared, and the next of them.
  std::vector<FieldValue> pending_;
  size_t pendingAt_ = 0;
  bool isPending_ = false;
};

}  // namespace tessera
