#include "tracefs/trace/raw_pipe.hpp"

#include <algorithm>
#include <cstring>
#include <deque>

#include "buffer/raw_pages.hpp"

namespace landtrace::tracefs {
namespace {

constexpr std::uint64_t kPercent = 100;
// A splice of 64 KiB may ask for so many pages before it takes the first one.
constexpr std::size_t kPagesKept = 32;

class OpenRawPipe : public OpenFile {
 public:
  OpenRawPipe(std::shared_ptr<TraceInstance> instance, std::uint32_t cpu, Which which)
      : instance_(std::move(instance)),
        cpu_(cpu),
        which_(which),
        pages_(cpu, static_cast<std::size_t>(instance_->buffer.sub_buffer_bytes())) {}

  Result<std::size_t> read(const Caller&, std::span<char> to, std::uint64_t offset) override {
    LT_CHECK(instance_->get());
    const std::uint64_t number = offset / pages_.page_bytes();
    if (number >= next_) {
      LT_TRY(const bool is_taken, take(number));
      if (!is_taken) return 0;  // the end of a snapshot
    }
    if (number < next_ - kept_.size()) return fail(ESPIPE, "the page was read long ago");
    const auto& page = kept_[static_cast<std::size_t>(number - (next_ - kept_.size()))];
    const std::size_t at = static_cast<std::size_t>(offset % pages_.page_bytes());
    const std::size_t size = std::min(to.size(), page.size() - at);
    std::memcpy(to.data(), page.data() + at, size);
    return size;
  }
  // Wakes waiting readers, as in the kernel, which knows no other request here.
  Result<int> ioctl(const Caller&, unsigned command, std::uint64_t) override {
    if (command != 0) return fail(ENOTTY, "no such request");
    ++wakes_;
    return 0;
  }
  // poll() waits until buffer_percent of the buffer is full.
  short ready() override {
    const std::uint64_t unread = unread_bytes();
    if (instance_->instance() == nullptr) return POLLIN | POLLERR;
    const std::uint64_t wanted = which_ == Which::kMain ? instance_->buffer_percent : 0;
    const bool is_full = unread * kPercent >= wanted * instance_->buffer.bytes(cpu_);
    return (unread > 0 && is_full) || instance_->options()[TraceOption::kBlock] ? POLLIN : 0;
  }
  // read() waits for anything.
  bool has_input() override { return unread_bytes() > 0 || instance_->instance() == nullptr; }
  std::uint64_t wakes() const override { return wakes_; }

 private:
  [[nodiscard]] std::shared_ptr<buffer::Contents> contents() const {
    return which_ == Which::kMain ? instance_->buffer.main() : instance_->buffer.snapshot();
  }
  [[nodiscard]] std::uint64_t unread_bytes() const {
    if (instance_->instance() == nullptr) return 0;
    const auto found = contents();
    return found ? found->unread_bytes(cpu_) : 0;
  }
  // A reader that skips pages gets the next page, at the offset that it asked for.
  Result<bool> take(std::uint64_t number) {
    std::vector<std::byte> page(pages_.page_bytes());
    const auto found = contents();
    if (!found || !pages_.take(*found, instance_->printer, page)) {
      if (which_ == Which::kSnapshot) return false;
      return fail(EAGAIN, "no event is there");
    }
    if (number > next_) kept_.clear();
    kept_.push_back(std::move(page));
    if (kept_.size() > kPagesKept) kept_.pop_front();
    next_ = number + 1;
    return true;
  }

  std::shared_ptr<TraceInstance> instance_;
  std::uint32_t cpu_;
  Which which_;
  buffer::RawPages pages_;
  std::deque<std::vector<std::byte>> kept_;  // the last ones before next_
  std::uint64_t next_ = 0;                   // number of the next page
  std::uint64_t wakes_ = 0;
};

}  // namespace

Result<std::unique_ptr<OpenFile>> RawPipe::open(const Caller&, int) {
  LT_CHECK(instance_->get());
  return std::make_unique<OpenRawPipe>(instance_, cpu_, which_);
}

}  // namespace landtrace::tracefs
