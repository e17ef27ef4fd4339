#include "fleet/serving/questions.hpp"

#include "fleet/history.hpp"

namespace landtrace::fleet {
namespace {

constexpr const char* kGroup = "collectors";
// Of a message that the server may take: beside its head.
constexpr std::int64_t kRoom = 1024;

}  // namespace

Questions::~Questions() {
  if (!subscription_) return;
  natsSubscription_Unsubscribe(subscription_.get());
  const std::lock_guard lock(answering_);
  is_over_ = true;
}

Result<void> Questions::listen(const Transport& transport, const char* subject, Answerer answerer) {
  answerer_ = std::move(answerer);
  natsSubscription* made = nullptr;
  const natsStatus status = natsConnection_QueueSubscribe(&made, transport.connection(), subject, kGroup, take, this);
  subscription_ = Subscription(made, Leave(transport.connection()));
  if (status != NATS_OK) return nats_failure(subject, status);
  return {};
}

void Questions::take(natsConnection* connection, natsSubscription*, natsMsg* made, void* of) {
  auto& self = *static_cast<Questions*>(of);
  const Message message(made);
  const char* const to = natsMsg_GetReply(made);
  if (to == nullptr) return;
  const std::lock_guard lock(self.answering_);
  if (self.is_over_) return;
  const auto answer = self.answerer_(text_of(made));
  if (answer) return send(connection, to, *answer);
  const Error& error = answer.error();
  const std::string why = kIsError + (error.message.empty() ? errno_text(error.code) : error.message);
  natsConnection_PublishString(connection, to, why.c_str());
}

void Questions::send(natsConnection* connection, const char* to, const std::string& answer) {
  const auto most = static_cast<std::size_t>(std::max(natsConnection_GetMaxPayload(connection) - kRoom, kRoom));
  std::string_view rest = answer;
  std::string part;
  do {
    const std::string_view some = rest.substr(0, most);
    rest.remove_prefix(some.size());
    part.assign(1, rest.empty() ? kIsLast : kMoreFollows).append(some);
    if (natsConnection_Publish(connection, to, part.data(), static_cast<int>(part.size())) != NATS_OK) return;
  } while (!rest.empty());
}

}  // namespace landtrace::fleet
