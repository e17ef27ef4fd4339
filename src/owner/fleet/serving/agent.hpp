// A host in its fleet: does what the bucket has for it, and tells what came of that.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "fleet/serving/link.hpp"
#include "fleet/serving/own_frames.hpp"
#include "fleet/serving/signature.hpp"
#include "fleet/serving/task.hpp"
#include "metrics/figures.hpp"

namespace landtrace::fleet {

class Agent {
 public:
  explicit Agent(AgentOptions options);

  // Until `stop` can be read, or the domain's owner is gone.
  Result<void> run(int stop);

 private:
  void take_orders(const std::map<std::string, std::string>& orders);
  void take_order(const std::string& id, const std::string& json);
  Result<Order> trusted(const std::string& id, const std::string& json);
  void refuse(const std::string& id, const std::string& reason);
  void settle(const std::string& id, OrderState state);
  void prepare_snapshot(Order order);
  void take_due_snapshots();
  [[nodiscard]] int pause_ms() const;
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
  void end_all();
  void send_frames(std::uint64_t now_ns);
  void send_own();
  void send_status();
  void forget_ended(std::uint64_t now_ns);
  [[nodiscard]] Labels own_labels() const;

  AgentOptions options_;
  std::string boot_;
  std::uint64_t started_ns_;
  Link link_;
  std::optional<metrics::Asker> asker_;
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
};

}  // namespace landtrace::fleet
