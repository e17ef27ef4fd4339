// An order for the times from one event to another: both are recorded, and paired here.
#pragma once

#include "consumer/collector.hpp"
#include "fleet/serving/slow_sink.hpp"
#include "fleet/serving/work.hpp"

namespace landtrace::fleet {

class Pairing : public Work {
 public:
  static Result<std::unique_ptr<Work>> begin(std::unique_ptr<consumer::DomainView> view, consumer::Session session,
                                             const Order& order, const AgentOptions& options);

  Result<void> look() override;
  Result<std::vector<Counted>> counted() override;
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
