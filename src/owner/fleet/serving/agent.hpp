// A host in its fleet: does what the bucket has for it, and tells what came of that.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "fleet/held_letters.hpp"
#include "fleet/own_frames.hpp"
#include "fleet/serving/link.hpp"
#include "fleet/serving/signature.hpp"
#include "fleet/serving/task.hpp"

namespace landtrace::fleet {

class Agent {
 public:
  // `changed` is called, in any thread, when there is something for a round.
  Agent(AgentOptions options, std::unique_ptr<AgentDomain> domain, std::function<void()> changed);

  // Once. `links`: where its link has its rounds; it outlives this.
  Result<void> start(Rounds& links);
  // What is to be done now. Returns when the next round is due, in nanoseconds of the monotonic clock; EPIPE when the
  // domain's owner is gone. One thread at a time, as the next one.
  Result<std::uint64_t> round();
  // The last: its orders have ended here, which is told.
  void end();

  [[nodiscard]] const Link& link() const { return link_; }

 private:
  void take_orders(const std::map<std::string, std::string>& orders);
  void take_order(const std::string& id, const std::string& json);
  Result<Order> trusted(const std::string& id, const std::string& json);
  void refuse(const std::string& id, const std::string& reason);
  void settle(const std::string& id, OrderState state);
  void prepare_snapshot(Order order);
  void take_due_snapshots();
  [[nodiscard]] std::uint64_t next_due_ns() const;
  // An order whose moment comes.
  struct Coming {
    Order order;
    std::uint64_t latest_ns = 0;  // of the monotonic clock, as the next one: then at last
    struct Clock {
      std::mutex mutex;
      bool is_known = false;
      std::optional<ClockOffset> offset;  // nullopt: nobody answers
    };
    std::shared_ptr<Clock> clock = std::make_shared<Clock>();  // with the link's thread
    // When it is to be.
    [[nodiscard]] std::uint64_t due_ns() const;
  };
  Result<void> send_snapshot(const Coming& coming);
  Result<void> look();
  void end(Task& task);
  void send_held();
  void send_frames(std::uint64_t now_ns);
  void send_own();
  void send_status();
  [[nodiscard]] std::vector<OrderState> states() const;
  void forget_ended(std::uint64_t now_ns);
  [[nodiscard]] Labels own_labels() const;

  AgentOptions options_;
  std::string boot_;
  std::uint64_t started_ns_;
  std::unique_ptr<AgentDomain> domain_;
  Link link_;
  OwnFrames own_;
  std::map<std::string, std::unique_ptr<Task>> tasks_;  // by order
  std::map<std::string, OrderState> settled_;           // orders that never became one
  std::set<std::string> passed_over_;                   // orders for others
  std::optional<Trust> trust_;                          // none: whoever may write to the bucket
  std::map<std::string, std::uint64_t> taken_;          // signed orders, and when they end
  std::map<std::string, Coming> coming_;                // snapshots
  bool status_is_new_ = true;
  std::uint64_t next_status_ns_ = 0;
  std::uint64_t next_states_ns_ = 0;
  std::uint64_t sequence_ = 0;
  HeldLetters held_;  // last frames of orders that have ended, for which there was no room
};

}  // namespace landtrace::fleet
