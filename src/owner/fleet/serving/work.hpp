// What a host does for an order: a session of its own in the domain. It ends with its connection, however this program
// ends, and is no part of what the host's own users do there.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "buffer/event_table.hpp"
#include "consumer/session.hpp"
#include "consumer/sink.hpp"
#include "fleet/address.hpp"
#include "fleet/frame.hpp"
#include "fleet/order.hpp"
#include "fleet/serving/order_probe.hpp"
#include "fleet/status.hpp"

namespace landtrace::fleet {

// What was counted of an event.
struct Counted {
  std::string event;
  ipc::HistogramTable table;
  Unpaired unpaired = {};
  std::vector<Slow> slowest = {};
};

class Work {
 public:
  // EINVAL with a sentence for what the domain does not take, ENOSPC where it has no room for more sessions.
  static Result<std::unique_ptr<Work>> begin(const AgentOptions& options, const Order& order);
  virtual ~Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  // To be called every kLook_ms or so. EPIPE when the owner is gone.
  virtual Result<void> look() { return {}; }
  // So far.
  virtual Result<std::vector<Counted>> counted() { return std::vector<Counted>(); }
  // Lines that have come since the last call, each with its newline.
  virtual std::string take_lines() { return {}; }
  // What has been recorded, which stays. Returns the moment, of the monotonic clock; 0: it records nothing.
  virtual Result<std::uint64_t> copy_to(consumer::Sink& /*sink*/) { return std::uint64_t{0}; }
  // Nothing more is counted or recorded.
  virtual void end() = 0;
  [[nodiscard]] virtual std::uint64_t events() const = 0;
  // Parts that the domain does not take.
  virtual std::vector<Refusal> refusals();
  // Of the machine.
  [[nodiscard]] std::uint32_t cpus() const { return view_->cpus(); }
  // Events of the domain so far.
  const std::deque<output::EventType>& types();

  static constexpr int kLook_ms = 20;

 private:
  std::unique_ptr<OrderProbe> probe_;  // goes after the session that listens to it

 protected:
  Work(std::unique_ptr<consumer::DomainView> view, consumer::Session session)
      : view_(std::move(view)), session_(std::move(session)), seen_(view_->control()) {}

  std::unique_ptr<consumer::DomainView> view_;  // which has to stay in its place
  consumer::Session session_;
  buffer::EventTable seen_;
};

}  // namespace landtrace::fleet
