// Work in a session of its own in the domain. It ends with its connection, however this program ends, and is no part of
// what the host's own users do there.
#pragma once

#include "buffer/event_table.hpp"
#include "consumer/session.hpp"
#include "fleet/address.hpp"
#include "fleet/serving/order_probe.hpp"
#include "fleet/serving/work.hpp"

namespace landtrace::fleet {

class SessionWork : public Work {
 public:
  // EINVAL with a sentence for what the domain does not take, ENOSPC where it has no room for more sessions.
  static Result<std::unique_ptr<Work>> begin(const AgentOptions& options, const Order& order);

  std::vector<Refusal> refusals() override;
  [[nodiscard]] std::uint32_t cpus() const override { return view_->cpus(); }
  const std::deque<output::EventType>& types() override;

 private:
  std::unique_ptr<OrderProbe> probe_;  // goes after the session that listens to it

 protected:
  SessionWork(std::unique_ptr<consumer::DomainView> view, consumer::Session session)
      : view_(std::move(view)), session_(std::move(session)), seen_(view_->control()) {}

  std::unique_ptr<consumer::DomainView> view_;  // which has to stay in its place
  consumer::Session session_;
  buffer::EventTable seen_;
};

}  // namespace landtrace::fleet
