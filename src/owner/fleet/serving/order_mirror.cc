#include "fleet/serving/order_mirror.hpp"

#include <chrono>
#include <thread>

#include "arch/clock.hpp"
#include "fleet/subjects.hpp"

namespace landtrace::fleet {
namespace {

constexpr std::uint64_t kAgain_ns = 250'000'000;
// The first time soon: who may not ask for the bucket has not all of it until then.
constexpr std::uint64_t kFirstCheck_ns = 1'000'000'000;
constexpr std::uint64_t kCheck_ns = 60'000'000'000;
// What a server passes over need not leave a gap: its replicas may not be equally far.
constexpr std::uint64_t kTrusted_ns = 600'000'000'000;
// A server that has much to do is not asked for more.
constexpr std::uint64_t kUntold_ns = 5'000'000'000;
// Who waits for all orders looks that often, and for as long as commands wait.
constexpr auto kLook = std::chrono::milliseconds(2);
constexpr auto kPatience = std::chrono::seconds(5);
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
  const bool had_gap = has_gap_;
  take_all(*arrivals);
  if (has_gap_ && !had_gap) next_ns_ = std::min(next_ns_, now_ns + kFirstCheck_ns);
  if (now_ns < next_ns_ && subscription_) return;
  if (subscription_) {
    next_ns_ = arch::monotonic_ns() + (check(transport, *arrivals) ? kCheck_ns : kUntold_ns);
  }
  if (subscription_) return;
  subscribe(transport, arrivals);
  next_ns_ = arch::monotonic_ns() + (subscription_ ? kFirstCheck_ns : kAgain_ns);
}

void OrderMirror::subscribe(Transport& transport, const std::shared_ptr<Arrivals>& arrivals) {
  begun_ns_ = arch::monotonic_ns();
  is_whole_ = is_last_ = has_gap_ = false;
  newest_ = 0;
  ids_.clear();
  orders_.clear();
  const auto before = transport.bucket_state();
  begin_ = before ? std::optional(before->newest) : std::nullopt;
  auto made = transport.hear_orders(
      [arrivals, number = ++number_](natsMsg* message) { arrivals->add(entry_of(message, number)); });
  if (!made) return;
  subscription_ = *std::move(made);
  const auto state = before ? transport.bucket_state() : before;
  wanted_ = state ? std::optional(*state) : std::nullopt;
  if (has_wanted()) become_whole();
}

void OrderMirror::become_whole() {
  is_whole_ = true;
  if (!begin_) begin_ = newest_;
}

void OrderMirror::take_all(Arrivals& arrivals) {
  for (Arrivals::Entry& entry : arrivals.take_entries()) {
    if (subscription_ && entry.subscription == number_) take(std::move(entry));
  }
}

// nats-server before 2.10.11, where somebody purges a key, passes over what it has not told of others yet. Nothing says
// so but the gap, which what was replaced before it was told of leaves, too.
void OrderMirror::take(Arrivals::Entry entry) {
  if (begin_ && entry.sequence > std::max(newest_, *begin_) + 1) has_gap_ = true;
  if (entry.sequence >= newest_) is_last_ = entry.is_newest;
  newest_ = std::max(newest_, entry.sequence);
  ids_.insert(entry.id);
  if (entry.order) {
    orders_[entry.id] = *std::move(entry.order);
  } else {
    orders_.erase(entry.id);
  }
  if (has_wanted()) become_whole();
}

// The newest one comes last. It may have been removed, without one that says so: then each id has come once. That the
// newest has come is not enough, as some may have been passed over.
bool OrderMirror::has_wanted() const {
  return wanted_ && ids_.size() >= wanted_->ids && (newest_ >= wanted_->newest || ids_.size() >= wanted_->entries);
}

// What came to the bucket after the subscription has come here, too: that all ids are known is not enough.
bool OrderMirror::has_all_of(const Transport::BucketState& bucket) const {
  const bool has_newest = newest_ >= bucket.newest || (has_wanted() && bucket.newest == wanted_->newest);
  return has_newest && ids_.size() >= bucket.ids;
}

// False: nobody said what the bucket has. Who may not ask has what came until now if the newest entry is the last one,
// as that says. Not before some time has gone by: what entries say of others to come is wrong where the bucket changes
// meanwhile. Afterwards it is read anew.
bool OrderMirror::check(Transport& transport, Arrivals& arrivals) {
  const auto state = transport.bucket_state();
  take_all(arrivals);
  const bool is_old = arch::monotonic_ns() - begun_ns_ >= kTrusted_ns;
  const bool has_all = state && !has_gap_ && !is_old && has_all_of(*state);
  const bool is_refused = !state && state.error().code == EACCES && !wanted_;
  if (has_all || (!state && !is_whole_ && is_last_)) {
    become_whole();
  } else if (state || is_refused) {
    reset();
  }
  return state || is_refused;
}

Result<OrderMirror::Orders> orders_of(Transport& transport) {
  LT_CHECK(transport.open_bucket());
  const auto arrivals = std::make_shared<Arrivals>();
  OrderMirror mirror;
  const auto end = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    mirror.look(transport, arrivals, arch::monotonic_ns());
    if (mirror.is_whole()) return mirror.orders();
    if (std::chrono::steady_clock::now() >= end) break;
    std::this_thread::sleep_for(kLook);
  }
  return fail(ETIMEDOUT, "the server does not say which orders there are");
}

}  // namespace landtrace::fleet
