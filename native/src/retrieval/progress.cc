#include "retrieval/progress.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>

namespace tessera {

/// The bits of the score in hexadecimal digits.
static constexpr size_t SCORE_CHARS = 16;
static constexpr int SCORE_BASE = 16;

static std::string_view afterScore(std::string_view text) {
  return text.substr(std::min(SCORE_CHARS, text.size()));
}

RetrievalProgress::RetrievalProgress(std::string_view text) : returned_(afterScore(text)) {
  uint64_t bits = 0;
  const char* const end = text.data() + std::min(SCORE_CHARS, text.size());
  const auto result = std::from_chars(text.data(), end, bits, SCORE_BASE);
  if (result.ec != std::errc() || text.size() < SCORE_CHARS) return;
  // Another server may have written the text, so the bits may be any double.
  const auto score = std::bit_cast<double>(bits);
  if (score >= -1 && score <= 1) lastScore_ = score;
}

std::string RetrievalProgress::start(double score, std::string_view before) {
  char digits[SCORE_CHARS];
  const auto bits = std::bit_cast<uint64_t>(score);
  const auto [end, _] = std::to_chars(digits, digits + SCORE_CHARS, bits, SCORE_BASE);
  std::string text(SCORE_CHARS - static_cast<size_t>(end - digits), '0');
  text.append(digits, end).append(afterScore(before));
  return text;
}

}  // namespace tessera
