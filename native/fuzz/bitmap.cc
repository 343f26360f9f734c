// Bitmaps, compared with sets.
#include "project/bitmap.hpp"

#include <set>

#include "check.hpp"

static constexpr uint32_t ROWS = 1 << 20;
static constexpr uint32_t RANGE = 1 << 8;

/// Reads numbers from the input; zeros after its end.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : at_(data), end_(data + size) {}
  bool empty() const { return at_ == end_; }
  uint32_t number(int bytes) {
    uint32_t value = 0;
    for (; bytes > 0; bytes--) value = value << 8 | (empty() ? 0 : *at_++);
    return value;
  }

 private:
  const uint8_t* at_;
  const uint8_t* end_;
};

static void checkFrom(const tessera::Bitmap& bitmap, const std::set<uint32_t>& rows, uint32_t from) {
  auto expected = rows.lower_bound(from);
  bitmap.forEach(from, [&](uint32_t row) {
    CHECK(expected != rows.end() && *expected == row);
    ++expected;
  });
  CHECK(expected == rows.end());
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  tessera::BitmapBuilder builder;
  std::set<uint32_t> rows;
  uint32_t last = 0;
  while (!input.empty()) {
    const uint32_t kind = input.number(1);
    last = kind % 3 == 0 ? input.number(3) % ROWS : (last + input.number(1)) % ROWS;
    const uint32_t count = kind % 5 == 0 ? input.number(2) % RANGE : 1;
    if (count == 1) builder.add(last);
    else builder.addRange(last, count);
    for (uint32_t i = 0; i < count; i++) rows.insert(last + i);
  }
  CHECK(builder.end() == (rows.empty() ? 0 : *rows.rbegin() + 1));
  tessera::PagePool pool;
  const tessera::Bitmap bitmap = pool.freeze(builder);
  CHECK(bitmap.count() == rows.size());
  checkFrom(bitmap, rows, 0);
  checkFrom(bitmap, rows, last);
  checkFrom(bitmap, rows, last + 1);
  for (const uint32_t row : {0u, last, last + 1, ROWS, ROWS * 2, ~0u}) {
    CHECK(bitmap.has(row) == rows.contains(row));
  }
  // Equal pages are stored once.
  const uint64_t bytes = pool.bytes();
  const tessera::Bitmap same = pool.freeze(builder);
  CHECK(same.pages() == bitmap.pages() && pool.bytes() == bytes);
  return 0;
}
