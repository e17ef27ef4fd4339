// Events that are counted and not sampled (perf stat). Programs count them in a table as the `hist` trigger's, so that
// nothing is recorded and none is missed, however seldom anybody looks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "consumer/session.hpp"
#include "perf/event.hpp"

namespace landtrace::perf {

class Counter {
 public:
  static Result<std::unique_ptr<Counter>> open(const std::string& socket);

  [[nodiscard]] bool takes(const Event& event) const;
  // The event is on from here on, or waits for exec; hush(): it is off.
  Result<void> listen(Event& event);
  void hush(Event& event);
  void remove(Event& event);
  [[nodiscard]] bool is_used() const { return !events_.empty(); }
  // How often it has happened while it was on.
  std::uint64_t count(Event& event);
  [[nodiscard]] bool is_dead() const { return view_->owner_died(); }
  void disconnect() { view_.reset(); }

 private:
  // What is counted of a tracepoint, and the rows that are told apart.
  struct Counted {
    std::uint32_t slot;
    std::string filter;
  };
  explicit Counter(std::unique_ptr<consumer::DomainView> view) : view_(std::move(view)) {}
  Result<std::uint64_t> total(Event& event);

  std::unique_ptr<consumer::DomainView> view_;
  std::unique_ptr<consumer::Session> session_;
  std::vector<Counted> counted_;
  struct Entry {
    Event* event;
    // What the table had when the event went on.
    std::uint64_t before;
  };
  std::vector<Entry> events_;
};

}  // namespace landtrace::perf
