// What the files about one instance's buffer share.
#pragma once

#include <memory>

#include "buffer/buffer.hpp"
#include "buffer/lines.hpp"
#include "tracefs/trace/trace_options.hpp"

namespace landtrace::tracefs {

class TraceInstance : private domain::ClockKeeper {
 public:
  // The domain must outlive it. A new instance takes over the options of `top`, which is nullptr for the top instance
  // itself.
  TraceInstance(domain::Domain& domain, std::uint32_t instance_index, const TraceInstance* top = nullptr);
  ~TraceInstance() override;
  TraceInstance(const TraceInstance&) = delete;
  TraceInstance& operator=(const TraceInstance&) = delete;

  // nullptr once it is gone.
  [[nodiscard]] domain::Instance* instance() const { return buffer.instance(); }
  // ENODEV once it is gone.
  [[nodiscard]] Result<domain::Instance*> get() const;

  [[nodiscard]] const TraceOptions& options() const { return options_; }
  // EINVAL: it cannot be changed.
  Result<void> set_option(TraceOption option, bool on);
  // How lines look now. A change of latency-format has effect for files that are opened later.
  [[nodiscard]] buffer::TextStyle style(bool latency) const;
  // EINVAL. The buffers are emptied: their events would be shown in a clock that they were not recorded with.
  Result<void> select_clock(std::string_view name) override;

  // Only one reader at a time may have a CPU's trace_pipe open; the trace_pipe of all CPUs counts for each. EBUSY.
  Result<void> take_pipe(std::uint32_t cpu);
  void give_pipe(std::uint32_t cpu);

  domain::Domain& domain;
  buffer::Buffer buffer;
  buffer::TraceClock clock;
  buffer::Printer printer;
  unsigned buffer_percent = 50;

 private:
  TraceOptions options_;
  std::vector<bool> pipes_;  // by CPU
};

}  // namespace landtrace::tracefs
