// An order for a histogram: the programs fill it, nothing is recorded.
#pragma once

#include <map>

#include "event/pattern.hpp"
#include "fleet/serving/work.hpp"

namespace landtrace::fleet {

class Counting : public Work {
 public:
  static Result<std::unique_ptr<Work>> begin(std::unique_ptr<consumer::DomainView> view, consumer::Session session,
                                             const Order& order);

  // An entry for each event that matches.
  Result<std::vector<Counted>> counted() override;
  void end() override;
  [[nodiscard]] std::uint64_t events() const override { return events_; }

 private:
  Counting(std::unique_ptr<consumer::DomainView> view, consumer::Session session, event::Pattern pattern)
      : Work(std::move(view), std::move(session)), pattern_(std::move(pattern)) {}

  event::Pattern pattern_;
  std::uint64_t events_ = 0;
};

}  // namespace landtrace::fleet
