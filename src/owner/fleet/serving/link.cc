#include "fleet/serving/link.hpp"

#include <chrono>

#include "arch/clock.hpp"
#include "fleet/frame_parts.hpp"
#include "fleet/subjects.hpp"

namespace landtrace::fleet {
namespace {

constexpr auto kPause = std::chrono::milliseconds(100);
constexpr std::int64_t kLook_ms = 20;
constexpr std::uint64_t kLastWords_ns = 3'000'000'000;
// A watcher that the server has forgotten says nothing: the bucket is read anew now and then.
constexpr std::uint64_t kReread_ns = 30'000'000'000;

}  // namespace

Link::Link(Address address, std::string name, std::size_t most_bytes)
    : address_(std::move(address)), name_(std::move(name)), outbox_(most_bytes) {}

Link::~Link() {
  is_over_ = true;
  if (thread_.joinable()) thread_.join();
}

Result<void> Link::start() {
  LT_TRY(Transport transport, Transport::keep_connecting(address_, name_));
  transport_.emplace(std::move(transport));
  thread_ = std::thread([this] { run(); });
  return {};
}

bool Link::send(Outbox::Letter letter) {
  const std::lock_guard lock(mutex_);
  return outbox_.put(std::move(letter));
}

void Link::tell(Outbox::Letter letter) {
  constexpr std::size_t kMostTold = 64;
  const std::lock_guard lock(mutex_);
  if (told_.size() >= kMostTold) {
    told_.pop_front();
    ++untold_;
  }
  told_.push_back(std::move(letter));
}

void Link::ask_for_time(std::string subject, TimeAnswered answered) {
  const std::lock_guard lock(mutex_);
  questions_.emplace_back(std::move(subject), std::move(answered));
}

Result<void> Link::send(Parcel parcel) {
  constexpr std::size_t kMostParcels = 2;
  const std::lock_guard lock(mutex_);
  if (parcels_.size() >= kMostParcels) return fail(EBUSY, "snapshots for others are under way: try it again");
  parcels_.push_back(std::move(parcel));
  return {};
}

std::optional<std::map<std::string, std::string>> Link::new_orders() {
  const std::lock_guard lock(mutex_);
  if (!orders_are_new_) return std::nullopt;
  orders_are_new_ = false;
  return orders_;
}

std::uint64_t Link::unsent() const {
  const std::lock_guard lock(mutex_);
  return outbox_.dropped() + too_large_ + untold_;
}

void Link::run() {
  std::uint64_t last_words_until = 0;
  for (;;) {
    if (is_over_) {
      const std::uint64_t now = arch::monotonic_ns();
      if (last_words_until == 0) last_words_until = now + kLastWords_ns;
      const std::lock_guard lock(mutex_);
      if (now >= last_words_until || (outbox_.is_empty() && parts_.empty() && told_.empty())) return;
    }
    if (!transport_->is_connected() || !is_prepared()) {
      std::this_thread::sleep_for(kPause);
      continue;
    }
    if (!is_over_) look_for_orders();
    while (answer_one_question() || tell_one() || send_one()) {
    }
    if (!is_over_) send_some_of_parcel();
  }
}

bool Link::is_prepared() {
  if (!is_prepared_) is_prepared_ = transport_->prepare().has_value();
  return is_prepared_;
}

// Returns when one came, or after kLook_ms.
void Link::look_for_orders() {
  const std::uint64_t now = arch::monotonic_ns();
  const std::uint64_t reconnects = transport_->reconnects();
  if (!watcher_ || reconnects != reconnects_ || now - watched_since_ns_ > kReread_ns) {
    reconnects_ = reconnects;
    watched_since_ns_ = now;
    seen_.clear();
    has_seen_all_ = false;
    kvWatcher* made = nullptr;
    const natsStatus status = kvStore_WatchAll(&made, transport_->bucket(), nullptr);
    watcher_.reset(made);
    if (status != NATS_OK) watcher_.reset();
    if (!watcher_) std::this_thread::sleep_for(kPause);
    if (!watcher_) return;
  }
  for (std::int64_t wait = kLook_ms;; wait = 1) {
    kvEntry* made = nullptr;
    const natsStatus status = kvWatcher_Next(&made, watcher_.get(), wait);
    const Entry entry(made);
    if (status == NATS_TIMEOUT) return;
    if (status != NATS_OK) {
      watcher_.reset();
      return;
    }
    take_entry(entry.get());
  }
}

// A null one stands behind those that were there in the beginning.
void Link::take_entry(kvEntry* entry) {
  if (entry == nullptr) {
    has_seen_all_ = true;
  } else if (kvEntry_Operation(entry) == kvOp_Put) {
    seen_[kvEntry_Key(entry)] =
        std::string(static_cast<const char*>(kvEntry_Value(entry)), static_cast<std::size_t>(kvEntry_ValueLen(entry)));
  } else {
    seen_.erase(kvEntry_Key(entry));
  }
  if (!has_seen_all_) return;
  const std::lock_guard lock(mutex_);
  orders_are_new_ = orders_are_new_ || orders_ != seen_;
  orders_ = seen_;
}

bool Link::tell_one() {
  Outbox::Letter letter;
  {
    const std::lock_guard lock(mutex_);
    if (told_.empty()) return false;
    letter = std::move(told_.front());
    told_.pop_front();
  }
  const natsStatus status = natsConnection_Publish(transport_->connection(), letter.subject.c_str(),
                                                   letter.bytes.data(), static_cast<int>(letter.bytes.size()));
  if (status == NATS_OK) return true;
  const std::lock_guard lock(mutex_);
  ++untold_;
  return false;
}

bool Link::answer_one_question() {
  std::pair<std::string, TimeAnswered> question;
  {
    const std::lock_guard lock(mutex_);
    if (questions_.empty()) return false;
    question = std::move(questions_.front());
    questions_.pop_front();
  }
  question.second(compare_clocks(question.first));
  return true;
}

// Several times, but not for long: the moment that it is for comes nearer.
std::optional<ClockOffset> Link::compare_clocks(const std::string& subject) const {
  constexpr std::size_t kTimes = 8;
  constexpr std::int64_t kMostWait_ms = 1000;
  constexpr std::uint64_t kLongEnough_ns = 200'000'000;
  std::vector<RoundTrip> trips;
  const std::uint64_t began_ns = arch::monotonic_ns();
  while (trips.size() < kTimes && arch::monotonic_ns() - began_ns < kLongEnough_ns) {
    natsMsg* made = nullptr;
    const std::uint64_t asked_ns = arch::monotonic_ns();
    const natsStatus status =
        natsConnection_Request(&made, transport_->connection(), subject.c_str(), nullptr, 0, kMostWait_ms);
    const std::uint64_t came_ns = arch::monotonic_ns();
    const Message message(made);
    if (status != NATS_OK) break;
    const auto trip = round_trip(asked_ns, text_of(made), came_ns);
    if (!trip) break;
    trips.push_back(*trip);
  }
  return best_of(trips);
}

// False: there is none.
bool Link::take_parcel() {
  const std::lock_guard lock(mutex_);
  if (parcel_ && arch::monotonic_ns() > parcel_->until_ns) {
    ++untold_;
    parcel_.reset();
  }
  if (parcel_) return true;
  if (parcels_.empty()) return false;
  parcel_ = std::move(parcels_.front());
  parcels_.pop_front();
  sent_bytes_ = 0;
  return true;
}

// For kLook_ms or so, so that all else is sent in between. What fails is tried again.
void Link::send_some_of_parcel() {
  if (!take_parcel()) return;
  const std::size_t most = std::min(kMostPartBytes, transport_->most_bytes()) - kPartHead;
  const std::uint64_t pause_ns = arch::monotonic_ns() + kLook_ms * 1'000'000;
  while (sent_bytes_ < parcel_->file.size()) {
    if (arch::monotonic_ns() > pause_ns) return;
    const SnapshotPart part{parcel_->end.generation, sent_bytes_,
                            std::string_view(parcel_->file).substr(sent_bytes_, most)};
    const std::string subject = parcel_->subject + "." + std::to_string(parcel_->end.parts);
    if (!transport_->publish(subject, encode(part))) return;
    sent_bytes_ += part.bytes.size();
    ++parcel_->end.parts;
  }
  if (transport_->publish(parcel_->subject + "." + kSnapshotEnd, json_of(parcel_->end))) parcel_.reset();
}

// What fits into a message, as the server there has it now. All parts of a frame come before the next one, so that
// newer frames keep none from being complete.
std::optional<Outbox::Letter> Link::next_letter() {
  const std::size_t most = transport_->most_bytes();
  const std::lock_guard lock(mutex_);
  while (most > 0) {
    std::optional<Outbox::Letter> letter;
    if (parts_.empty()) {
      letter = outbox_.take();
    } else {
      letter = std::move(parts_.front());
      parts_.pop_front();
    }
    if (!letter || letter->bytes.size() <= most) return letter;
    auto parts = in_parts(*letter, most);
    if (!parts) ++too_large_;
    if (parts) parts_.insert(parts_.begin(), parts->begin(), parts->end());
  }
  return std::nullopt;
}

// False: there is nothing, or it could not be sent now.
bool Link::send_one() {
  std::optional<Outbox::Letter> letter = next_letter();
  if (!letter) return false;
  if (transport_->publish(letter->subject, letter->bytes)) return true;
  const std::lock_guard lock(mutex_);
  if (whole_of(letter->subject)) {
    parts_.push_front(*std::move(letter));
  } else {
    outbox_.put_back(*std::move(letter));
  }
  return false;
}

}  // namespace landtrace::fleet
