// An order for events as lines.
#pragma once

#include "consumer/collector.hpp"
#include "fleet/serving/tail_sink.hpp"
#include "fleet/serving/session_work.hpp"

namespace landtrace::fleet {

class Tailing : public SessionWork {
 public:
  static Result<std::unique_ptr<SessionWork>> begin(std::unique_ptr<consumer::DomainView> view,
                                                    consumer::Session session, const Order& order,
                                                    const AgentOptions& options);

  // Once: what a fast host has more waits in its rings, or is lost there and counted.
  Result<void> look() override;
  std::string take_lines() override { return sink_.take(); }
  void end() override {
    std::ignore = collector_.finish();
    std::ignore = sink_.finish();
  }
  [[nodiscard]] std::uint64_t events() const override { return collector_.totals().events; }

 private:
  Tailing(std::unique_ptr<consumer::DomainView> view, consumer::Session session, const AgentOptions& options);

  TailSink sink_;
  consumer::Collector collector_;
};

}  // namespace landtrace::fleet
