#include "buffer/raw_pages.hpp"

#include <cstring>
#include <utility>

namespace landtrace::buffer {

RawPages::RawPages(std::uint32_t cpu, std::size_t page_bytes)
    : cpu_(cpu), page_bytes_(page_bytes), builder_(page_bytes) {}

bool RawPages::take(Contents& contents, Printer& printer, std::span<std::byte> page) {
  printer.prepare(false);
  contents.consume(cpu_, merge_);
  while (const Merge::Source* const source = merge_.next()) {
    // Only the first event of a page can have others missing before it.
    if (source->cursor->has_lost()) {
      if (!builder_.empty()) break;
      missing_ += source->cursor->take_lost();
    }
    if (builder_.empty()) builder_.set_lost(missing_);
    if (builder_.append(printer.look_at(*source).record)) {
      missing_ = 0;
    } else if (builder_.empty()) {
      ++missing_;  // too large for any page
    } else {
      break;
    }
    source->cursor->pop();
  }
  merge_.clear();
  contents.consumed();
  if (builder_.empty()) return false;
  const std::span<const std::byte> filled = builder_.finish();
  std::memcpy(page.data(), filled.data(), filled.size());
  std::memset(page.data() + filled.size(), 0, page.size() - filled.size());
  builder_.clear();
  return true;
}

}  // namespace landtrace::buffer
