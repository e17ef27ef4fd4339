// Memory for the pages of a recording. A page that was read may be needed for longer than its cursor stands in it: each
// is kept for as long as somebody holds it, and its memory is used again then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace landtrace::output::trace_dat {

using PageMemory = std::shared_ptr<std::byte[]>;

// All pages are of one size, and those that are given back are its own. Not thread-safe: whoever holds pages in another
// thread gives them back under the lock under which they are taken.
class PagePool {
 public:
  explicit PagePool(std::uint32_t page_size) : page_size_(page_size) {}

  [[nodiscard]] std::uint32_t page_size() const { return page_size_; }
  // What is in it is not cleared.
  PageMemory take() {
    if (spare_.empty()) return PageMemory(new std::byte[page_size_]);
    PageMemory page = std::move(spare_.back());
    spare_.pop_back();
    return page;
  }
  void give_back(PageMemory page) {
    if (page.use_count() == 1 && spare_.size() < kMostSpare) spare_.push_back(std::move(page));
  }

 private:
  static constexpr std::size_t kMostSpare = 64;

  std::uint32_t page_size_;
  std::vector<PageMemory> spare_;
};

}  // namespace landtrace::output::trace_dat
