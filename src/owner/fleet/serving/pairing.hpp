// An order for the times from one event to another: both are recorded, and paired here.
#pragma once

#include "consumer/collector.hpp"
#include "fleet/serving/session_work.hpp"
#include "fleet/serving/slow_sink.hpp"

namespace landtrace::fleet {

class Pairing : public SessionWork {
 public:
  static Result<std::unique_ptr<SessionWork>> begin(std::unique_ptr<consumer::DomainView> view,
                                                    consumer::Session session, const Order& order,
                                                    const AgentOptions& options);

  Result<void> look() override;
  Result<void> counted(const TakeCounted& take) override;
  void end() override;
  [[nodiscard]] std::uint64_t events() const override { return collector_.totals().events; }
  std::vector<Refusal> refusals() override;

 private:
  Pairing(std::unique_ptr<consumer::DomainView> view, consumer::Session session,
          const measure::LatencySink::Request& request, const Order& order, const AgentOptions& options);

  std::string title_;
  SlowSink sink_;
  consumer::Collector collector_;
};

}  // namespace landtrace::fleet
