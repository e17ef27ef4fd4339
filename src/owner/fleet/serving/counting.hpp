// An order for a histogram: the programs fill it, nothing is recorded.
#pragma once

#include <map>

#include "event/pattern.hpp"
#include "fleet/serving/session_work.hpp"

namespace landtrace::fleet {

class Counting : public SessionWork {
 public:
  static Result<std::unique_ptr<SessionWork>> begin(std::unique_ptr<consumer::DomainView> view,
                                                    consumer::Session session, const Order& order);

  // An entry for each event that matches.
  Result<void> counted(const TakeCounted& take) override;
  [[nodiscard]] int look_ms() const override { return kSeldom_ms; }
  void end() override;
  [[nodiscard]] std::uint64_t events() const override { return events_; }

 private:
  Counting(std::unique_ptr<consumer::DomainView> view, consumer::Session session, event::Pattern pattern)
      : SessionWork(std::move(view), std::move(session)), pattern_(std::move(pattern)) {}

  event::Pattern pattern_;
  std::uint64_t events_ = 0;
};

}  // namespace landtrace::fleet
