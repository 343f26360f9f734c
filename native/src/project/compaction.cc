#include "project/compaction.hpp"

#include <set>

namespace tessera {

/// A shard is compacted if at least one in this many rows or nodes is dead.
static constexpr uint32_t DEAD_SHARE = 5;
/// Minimum number of dead rows that justifies the work.
static constexpr uint32_t MIN_DEAD_ROWS = 256;

namespace {

/// The rows of a shard that are in any scope or in `kept`.
BitmapBuilder liveRows(const Scopes& scopes, int slot, const Shard& shard, const RowRanges& kept) {
  BitmapBuilder live;
  for (size_t i = 0; i + 1 < kept.size(); i += 2) live.addRange(kept[i], kept[i + 1]);
  // Scopes share most of their pages.
  std::set<std::pair<size_t, const Page*>> seen;
  for (const auto& [id, scope] : scopes) {
    for (const auto& part : scope->parts[static_cast<size_t>(slot)]) {
      if (part->shard.get() != &shard) continue;
      for (size_t number = 0; number < part->rows.pageCount(); number++) {
        const Page* page = part->rows.pages()[number].get();
        if (page == nullptr || !seen.emplace(number, page).second) continue;
        if (number >= live.pages().size()) live.pages().resize(number + 1, Page{});
        for (uint32_t word = 0; word < PAGE_WORDS; word++) live.pages()[number][word] |= (*page)[word];
      }
    }
  }
  return live;
}

bool isWorthCopying(const Shard& shard, const BitmapBuilder& live, uint32_t rows) {
  uint32_t dead = rows;
  uint32_t deadNodes = shard.nodes();
  std::vector<bool> seen(deadNodes);
  live.forEach([&](uint32_t row) {
    if (row < rows) dead--;
    const uint32_t node = shard.nodeOf(row);
    // A node that was added meanwhile is not counted.
    if (node >= seen.size() || seen[node]) return;
    seen[node] = true;
    deadNodes--;
  });
  return dead >= MIN_DEAD_ROWS &&
         (dead >= rows / DEAD_SHARE || (deadNodes > 0 && deadNodes >= seen.size() / DEAD_SHARE));
}

}  // namespace

Compaction::Compaction(int slot, std::shared_ptr<Shard> old)
    : slot_(slot),
      old_(std::move(old)),
      next_(std::make_shared<Shard>(old_->number(), old_->dimension())) {}

std::unique_ptr<Compaction> Compaction::prepare(const std::shared_ptr<Project>& project, int slot,
                                                const std::shared_ptr<Shard>& shard,
                                                uint32_t rows, const RowRanges& kept,
                                                unsigned threads) {
  const Scopes scopes = project->scopes();
  const BitmapBuilder live = liveRows(scopes, slot, *shard, kept);
  if (!isWorthCopying(*shard, live, rows)) return nullptr;
  std::unique_ptr<Compaction> made(new Compaction(slot, shard));
  made->newRows_.assign(rows, NONE);
  made->copyRows(live);
  const std::atomic<bool>& closed = project->closed();
  while (made->next_->growGraph(threads, closed)) {
  }
  made->next_->calibrate(closed);
  for (const auto& [id, scope] : scopes) {
    if (closed) return nullptr;
    if (made->names(*scope)) made->translate(*project, scope);
  }
  return made;
}

void Compaction::copyRows(const BitmapBuilder& live) {
  live.forEach([&](uint32_t row) {
    if (row < newRows_.size()) copyRow(row);
  });
  next_->quantize();
}

void Compaction::copyRow(uint32_t row) {
  const uint32_t known = old_->nodeOf(row);
  if (known == NONE) {
    newRows_[row] = next_->append(Chunk{old_->id(row), nullptr, old_->text(row)}, 0, NONE);
    return;
  }
  const float* vector = old_->vectors().vector(known);
  const uint64_t hash = old_->vectors().hash(known);
  const uint32_t node = next_->vectors().find(hash, vector);
  newRows_[row] = next_->append(Chunk{old_->id(row), vector, old_->text(row)}, hash, node);
}

bool Compaction::names(const Scope& scope) const {
  for (const auto& part : scope.parts[static_cast<size_t>(slot_)]) {
    if (part->shard == old_) return true;
  }
  return false;
}

std::shared_ptr<const ScopePart> Compaction::translate(Project& project,
                                                       const ScopePart& part) const {
  BitmapBuilder rows;
  bool complete = true;
  part.rows.forEach(0, [&](uint32_t row) {
    const uint32_t copied = row < newRows_.size() ? newRows_[row] : NONE;
    if (copied == NONE) complete = false;
    else rows.add(copied);
  });
  return complete ? project.freeze(next_, rows) : nullptr;
}

std::shared_ptr<const Scope> Compaction::translate(Project& project,
                                                   const std::shared_ptr<const Scope>& scope) {
  std::shared_ptr<const Scope>& known = translated_[scope];
  if (known) return known;
  auto copy = std::make_shared<Scope>(*scope);
  for (auto& part : copy->parts[static_cast<size_t>(slot_)]) {
    if (part->shard != old_) continue;
    part = translate(project, *part);
    if (!part) return nullptr;
  }
  known = std::move(copy);
  return known;
}

/// The rows that have a new row.
static RowRanges rangesOf(const std::vector<uint32_t>& newRows) {
  RowRanges ranges;
  for (uint32_t row = 0; row < newRows.size(); row++) {
    if (newRows[row] == NONE) continue;
    if (!ranges.empty() && ranges[ranges.size() - 2] + ranges.back() == row) ranges.back()++;
    else ranges.insert(ranges.end(), {row, 1});
  }
  return ranges;
}

std::optional<RowRanges> Compaction::commit(Project& project) {
  std::lock_guard lock(project.writer());
  if (project.index(slot_)->shard(old_->number()) != old_) return std::nullopt;
  for (uint32_t row = static_cast<uint32_t>(newRows_.size()); row < old_->rows(); row++) {
    newRows_.push_back(NONE);
    copyRow(row);
  }
  next_->quantize();
  Scopes scopes;
  for (const auto& [id, scope] : project.scopes()) {
    if (!names(*scope)) continue;
    const auto copy = translate(project, scope);
    if (!copy) return std::nullopt;
    scopes.emplace(id, copy);
  }
  project.replaceShard(slot_, next_, scopes);
  return rangesOf(newRows_);
}

}  // namespace tessera
