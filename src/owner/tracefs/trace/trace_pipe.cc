#include "tracefs/trace/trace_pipe.hpp"

#include <algorithm>
#include <cstring>

namespace landtrace::tracefs {
namespace {

class OpenPipe : public OpenFile {
 public:
  OpenPipe(std::shared_ptr<TraceInstance> instance, std::uint32_t cpu, int flags)
      : instance_(std::move(instance)),
        cpu_(cpu),
        waits_((flags & O_NONBLOCK) == 0),
        latency_(instance_->options()[TraceOption::kLatencyFormat]) {
    instance_->printer.prepare(true);
  }
  ~OpenPipe() override { instance_->give_pipe(cpu_); }

  Result<std::size_t> read(const Caller& caller, std::span<char> to, std::uint64_t) override {
    LT_CHECK(instance_->get());
    if (given_ == text_.size()) take(to.size());
    const std::size_t size = std::min(to.size(), text_.size() - given_);
    if (size == 0 && !to.empty()) return nothing(caller);
    std::memcpy(to.data(), text_.data() + given_, size);
    given_ += size;
    has_given_ = true;
    return size;
  }
  short ready() override {
    if (instance_->instance() == nullptr) return POLLIN | POLLERR;
    // The kernel's name for not waiting in poll().
    return is_any() || instance_->options()[TraceOption::kBlock] ? POLLIN : 0;
  }
  bool has_input() override { return instance_->instance() == nullptr || is_any() || is_over(); }

 private:
  [[nodiscard]] bool is_any() const {
    return given_ < text_.size() || instance_->buffer.main()->unread_bytes(cpu_) > 0;
  }
  // When tracing is off, a reader that has read something is at the end; one that has not goes on waiting.
  [[nodiscard]] bool is_over() const {
    return has_given_ && !instance_->domain.instances().is_tracing(*instance_->instance());
  }
  // Who does not wait is not told of an end.
  Result<std::size_t> nothing(const Caller& caller) const {
    if (caller.waits.value_or(waits_) && is_over()) return 0;
    return fail(EAGAIN, "no event is there");
  }
  void take(std::size_t size) {
    text_.clear();
    given_ = 0;
    instance_->printer.prepare(false);
    const buffer::TextStyle style = instance_->style(latency_);
    buffer::Contents& contents = *instance_->buffer.main();
    contents.consume(cpu_, merge_);
    while (text_.size() < size && lines_.append_next(text_, merge_, instance_->printer, style)) {
    }
    merge_.clear();
    contents.consumed();
  }

  std::shared_ptr<TraceInstance> instance_;
  std::uint32_t cpu_;
  bool waits_;  // where a read() does not say it
  bool latency_;
  buffer::Merge merge_;
  buffer::Lines lines_{{}};
  std::string text_;
  std::size_t given_ = 0;
  bool has_given_ = false;
};

}  // namespace

Result<std::unique_ptr<OpenFile>> TracePipe::open(const Caller&, int flags) {
  LT_CHECK(instance_->get());
  LT_CHECK(instance_->take_pipe(cpu_));
  return std::make_unique<OpenPipe>(instance_, cpu_, flags);
}

}  // namespace landtrace::tracefs
