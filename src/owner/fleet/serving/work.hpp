// What a host does for an order.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "consumer/sink.hpp"
#include "fleet/frame.hpp"
#include "fleet/order.hpp"
#include "fleet/status.hpp"

namespace landtrace::fleet {

// What was counted of an event.
struct Counted {
  std::string event;
  ipc::HistogramTable table;
  Unpaired unpaired = {};
  std::vector<Slow> slowest = {};
};
using TakeCounted = std::function<void(Counted)>;

class Work {
 public:
  Work() = default;
  virtual ~Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  // To be called every look_ms(), or so. EPIPE when the owner is gone.
  virtual Result<void> look() { return {}; }
  [[nodiscard]] virtual int look_ms() const { return kLook_ms; }
  // So far, one event after the other: all of them at once may be large.
  virtual Result<void> counted(const TakeCounted& /*take*/) { return {}; }
  // Lines that have come since the last call, each with its newline.
  virtual std::string take_lines() { return {}; }
  // What has been recorded, which stays. Returns the moment, of the monotonic clock; 0: it records nothing.
  virtual Result<std::uint64_t> copy_to(consumer::Sink& /*sink*/) { return std::uint64_t{0}; }
  // Nothing more is counted or recorded.
  virtual void end() = 0;
  [[nodiscard]] virtual std::uint64_t events() const = 0;
  // Parts that the domain does not take.
  virtual std::vector<Refusal> refusals() = 0;
  // Of the machine.
  [[nodiscard]] virtual std::uint32_t cpus() const = 0;
  // Events of the domain so far.
  virtual const std::deque<output::EventType>& types() = 0;

  static constexpr int kLook_ms = 20;
  // Of what nothing has to be taken out in time.
  static constexpr int kSeldom_ms = 500;
};

}  // namespace landtrace::fleet
