// An order for the times from one event to another: both are recorded, and paired here.
#pragma once

#include "consumer/collector.hpp"
#include "fleet/serving/session_work.hpp"
#include "measure/latency_sink.hpp"

namespace landtrace::fleet {

class Pairing : public SessionWork {
 public:
  static Result<std::unique_ptr<SessionWork>> begin(std::unique_ptr<consumer::DomainView> view,
                                                    consumer::Session session, const Order& order);

  Result<void> look() override;
  Result<void> counted(const TakeCounted& take) override;
  void end() override;
  [[nodiscard]] std::uint64_t events() const override { return collector_.totals().events; }
  std::vector<Refusal> refusals() override;

 private:
  Pairing(std::unique_ptr<consumer::DomainView> view, consumer::Session session,
          const measure::LatencySink::Request& request);

  std::string title_;
  measure::LatencySink sink_;
  consumer::Collector collector_;
};

}  // namespace landtrace::fleet
