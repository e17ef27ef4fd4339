#include "fleet/serving/handles.hpp"

namespace landtrace::fleet {

// To unsubscribe has libnats wait until the server has deleted the consumer, too, which a user may have no leave for.
// No more than one message is the end of what had one already, without that.
void Leave::operator()(natsSubscription* subscription) const {
  constexpr std::int64_t kPatience_ms = 2000;
  natsSubscription_AutoUnsubscribe(subscription, 1);
  if (natsSubscription_IsValid(subscription)) natsSubscription_Unsubscribe(subscription);
  const bool has_no_thread = natsConnection_IsClosed(connection_);
  const bool may_answer = natsConnection_Status(connection_) == NATS_CONN_STATUS_CONNECTED;
  if (has_no_thread || (may_answer && natsConnection_FlushTimeout(connection_, kPatience_ms) == NATS_OK)) {
    natsSubscription_Destroy(subscription);
  }
}

}  // namespace landtrace::fleet
