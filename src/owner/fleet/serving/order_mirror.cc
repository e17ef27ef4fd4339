#include "fleet/serving/order_mirror.hpp"

#include "fleet/subjects.hpp"

namespace landtrace::fleet {
namespace {

constexpr std::uint64_t kAgain_ns = 250'000'000;
// The first time soon: an empty bucket has no entry that would say so.
constexpr std::uint64_t kFirstCheck_ns = 1'000'000'000;
constexpr std::uint64_t kCheck_ns = 30'000'000'000;
constexpr const char* kOperation = "KV-Operation";

Arrivals::Entry entry_of(natsMsg* message, std::uint64_t subscription) {
  Arrivals::Entry entry;
  entry.subscription = subscription;
  const std::string_view subject = natsMsg_GetSubject(message);
  if (subject.starts_with(kOrderPrefix)) entry.id = subject.substr(kOrderPrefix.size());
  const char* operation = nullptr;
  const bool is_gone = natsMsgHeader_Get(message, kOperation, &operation) == NATS_OK;
  if (!is_gone) entry.order = text_of(message);
  jsMsgMetaData* data = nullptr;
  if (natsMsg_GetMetaData(&data, message) == NATS_OK) {
    entry.sequence = data->Sequence.Stream;
    entry.is_newest = data->NumPending == 0;
  }
  jsMsgMetaData_Destroy(data);
  return entry;
}

}  // namespace

void OrderMirror::look(Transport& transport, const std::shared_ptr<Arrivals>& arrivals, std::uint64_t now_ns) {
  const std::uint64_t reconnects = transport.reconnects();
  if (reconnects != reconnects_) reset();
  reconnects_ = reconnects;
  for (Arrivals::Entry& entry : arrivals->take_entries()) {
    if (subscription_ && entry.subscription == number_) take(std::move(entry));
  }
  if (now_ns < next_ns_ && subscription_) return;
  if (subscription_) {
    check(transport);
    next_ns_ = now_ns + kCheck_ns;
  }
  if (subscription_) return;
  subscribe(transport, arrivals);
  next_ns_ = now_ns + (subscription_ ? kFirstCheck_ns : kAgain_ns);
}

void OrderMirror::subscribe(Transport& transport, const std::shared_ptr<Arrivals>& arrivals) {
  is_whole_ = false;
  newest_ = 0;
  orders_.clear();
  auto made = transport.hear_orders(
      [arrivals, number = ++number_](natsMsg* message) { arrivals->add(entry_of(message, number)); });
  if (made) subscription_ = *std::move(made);
}

void OrderMirror::take(Arrivals::Entry entry) {
  newest_ = std::max(newest_, entry.sequence);
  is_whole_ = is_whole_ || entry.is_newest;
  if (entry.order) {
    orders_[entry.id] = *std::move(entry.order);
  } else {
    orders_.erase(entry.id);
  }
}

// Who may not ask reads it anew.
void OrderMirror::check(Transport& transport) {
  const auto state = transport.bucket_state();
  if (state && state->newest == newest_) {
    is_whole_ = true;
    return;
  }
  if (state && state->entries == 0 && orders_.empty()) {
    is_whole_ = true;
    newest_ = state->newest;
    return;
  }
  reset();
}

}  // namespace landtrace::fleet
