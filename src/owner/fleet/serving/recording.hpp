// An order for events: they are recorded in memory, where the newest stay.
#pragma once

#include "consumer/collector.hpp"
#include "fleet/serving/session_work.hpp"

namespace landtrace::fleet {

class Recording : public SessionWork {
 public:
  static Result<std::unique_ptr<SessionWork>> begin(std::unique_ptr<consumer::DomainView> view,
                                                    consumer::Session session, const Order& order);

  Result<void> look() override;
  Result<std::uint64_t> copy_to(consumer::Sink& sink) override { return collector_.copy_to(sink); }
  void end() override;
  [[nodiscard]] std::uint64_t events() const override;

 private:
  Recording(std::unique_ptr<consumer::DomainView> view, consumer::Session session);

  // Nothing is taken out.
  class NoSink : public consumer::Sink {
   public:
    void type(const output::EventType& /*type*/) override {}
    void task(std::int32_t /*tid*/, const output::Task& /*task*/) override {}
    void event(const output::Record& /*record*/, const output::EventType& /*type*/) override {}
    void lost(std::uint32_t /*cpu*/, std::uint64_t /*count*/) override {}
  };
  NoSink sink_;
  consumer::Collector collector_;
};

}  // namespace landtrace::fleet
