// An order at this host: what is done for it, and what is told of that.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "event/pattern.hpp"
#include "fleet/address.hpp"
#include "fleet/outbox.hpp"
#include "fleet/own_lines.hpp"
#include "fleet/serving/agent_domain.hpp"

namespace landtrace::fleet {

class Task {
 public:
  // Begins it; where the domain does not take it, that is its state.
  Task(const AgentOptions& options, std::string boot, Order order, AgentDomain& domain);
  // Of an order whose time was over when it came.
  Task(const AgentOptions& options, Order order);

  [[nodiscard]] const Order& order() const { return order_; }
  [[nodiscard]] const OrderState& state() const { return state_; }
  [[nodiscard]] bool is_over() const { return work_ == nullptr; }
  // Of the monotonic clock, as all that is due; 0: it has not ended.
  [[nodiscard]] std::uint64_t ended_ns() const { return ended_ns_; }

  // EPIPE when the owner is gone.
  Result<void> look();
  // Frames of what has been counted since the last call, by their subjects.
  std::vector<Outbox::Letter> frames(std::uint64_t now_ns, bool is_last = false);
  // At the next call of frames(), also what has not changed until then.
  void send_all_again() { is_known_ = false; }
  // Lines since the last call; also the last ones, behind its end.
  std::optional<ToldLines> lines();
  // What it records, if it does that; nullptr after its end.
  [[nodiscard]] Work* recording() const { return order_.kind == Order::Kind::kEnable ? work_.get() : nullptr; }
  // True: the state is another one now.
  bool update_state();
  // The last frames.
  std::vector<Outbox::Letter> end(std::uint64_t now_ns);

  std::uint64_t next_frames_ns = 0;
  std::uint64_t next_look_ns = 0;

 private:
  struct Sent {
    std::uint64_t generation = 0;
    std::uint64_t sequence = 0;
    std::uint64_t hits = 0;  // of the last frame
    std::uint64_t rest = 0;  // … what else it had: dropped and unpaired events
  };
  void refuse(const std::string& reason);
  void look_for_events();
  Outbox::Letter letter_of(Counted counted, std::uint64_t now_ns, bool is_last);
  [[nodiscard]] Frame frame_of(Counted counted, Sent& sent, std::uint64_t now_ns) const;

  const AgentOptions& options_;
  const std::string boot_;
  const Order order_;
  OrderState state_;
  std::unique_ptr<Work> work_;
  std::map<std::string, Sent> sent_;  // by event
  std::string last_lines_;
  std::uint64_t lines_ = 0;              // that lines() has given out
  bool is_known_ = true;                 // there, as far as it was sent
  std::vector<event::Pattern> missing_;  // of which no event was there so far
  std::uint64_t ended_ns_ = 0;
};

}  // namespace landtrace::fleet
