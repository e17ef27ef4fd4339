// Text that is put together of many pieces and then written at once. Unlike a std::string it gives out room that was
// not cleared before, so that numbers are written where they stay.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace landtrace::event {

class TextBuffer {
 public:
  // Where so many characters may be written; then end() where they end. Valid until the next call.
  char* room(std::size_t size) {
    if (__builtin_expect(size > static_cast<std::size_t>(limit_ - end_), 0)) grow(size);
    return end_;
  }
  void end(char* at) { end_ = at; }
  void append(std::string_view text) {
    std::memcpy(room(text.size()), text.data(), text.size());
    end_ += text.size();
  }

  // Valid until the next change.
  [[nodiscard]] std::string_view text() const { return {begin_.get(), size()}; }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(end_ - begin_.get()); }
  // Its memory is kept.
  void clear() { end_ = begin_.get(); }

 private:
  void grow(std::size_t size) {
    constexpr std::size_t kSmallest = 4096;
    const std::size_t used = this->size();
    const std::size_t most = std::max({kSmallest, 2 * static_cast<std::size_t>(limit_ - begin_.get()), used + size});
    auto larger = std::make_unique_for_overwrite<char[]>(most);
    if (used > 0) std::memcpy(larger.get(), begin_.get(), used);
    begin_ = std::move(larger);
    end_ = begin_.get() + used;
    limit_ = begin_.get() + most;
  }

  std::unique_ptr<char[]> begin_;
  char* end_ = nullptr;
  char* limit_ = nullptr;
};

}  // namespace landtrace::event
