#include "tracefs/trace/trace_file.hpp"

#include "base/input.hpp"
#include "tracefs/trace/trace_text.hpp"

namespace landtrace::tracefs {
namespace {

class OpenTrace : public OpenFile {
 public:
  OpenTrace(std::shared_ptr<TraceInstance> instance, std::uint32_t cpu, Which which)
      : instance_(std::move(instance)),
        cpu_(cpu),
        which_(which),
        text_(*instance_, cpu, which == Which::kSnapshot, instance_->options()[TraceOption::kLatencyFormat]) {}

  Result<std::size_t> read(const Caller&, std::span<char> to, std::uint64_t offset) override {
    LT_CHECK(instance_->get());
    return text_.read(to, offset);
  }
  // A write to `trace` has no effect: opening it with O_TRUNC had.
  Result<std::size_t> write(const Caller&, std::string_view bytes, std::uint64_t) override {
    LT_TRY(const domain::Instance* const instance, instance_->get());
    if (which_ == Which::kSnapshot) LT_CHECK(command(*instance, bytes));
    return bytes.size();
  }

 private:
  Result<void> command(const domain::Instance& instance, std::string_view bytes) {
    LT_TRY(const std::uint64_t number, number_in(bytes, 10));
    if (instance.snapshot_is_kept) return fail(EBUSY, "a histogram's onmax() or onchange() keeps a snapshot there");
    buffer::Buffer& buffer = instance_->buffer;
    // As in a kernel that cannot swap the buffer of one CPU alone.
    if (number <= 1 && cpu_ != buffer::kAllCpus) return fail(EINVAL, "only the whole snapshot is taken or freed");
    if (number == 1) return buffer.take_snapshot();
    if (number == 0) return buffer.free_snapshot();
    if (buffer.snapshot()) buffer.snapshot()->clear(cpu_);
    return {};
  }

  std::shared_ptr<TraceInstance> instance_;
  std::uint32_t cpu_;
  Which which_;
  TraceText text_;
};

}  // namespace

Result<std::unique_ptr<OpenFile>> TraceFile::open(const Caller&, int flags) {
  LT_CHECK(instance_->get());
  const bool writes = (flags & O_ACCMODE) != O_RDONLY;
  if (which_ == Which::kMain && writes && (flags & O_TRUNC) != 0) instance_->buffer.main()->clear(cpu_);
  return std::make_unique<OpenTrace>(instance_, cpu_, which_);
}

}  // namespace landtrace::tracefs
