#include "fleet/serving/link.hpp"

#include <charconv>
#include <chrono>

#include "arch/clock.hpp"
#include "fleet/frame_parts.hpp"
#include "fleet/subjects.hpp"

namespace landtrace::fleet {
namespace {

constexpr std::uint64_t kNsPerMs = 1'000'000;
constexpr std::uint64_t kPause_ns = 100 * kNsPerMs;
constexpr std::uint64_t kLastWords_ns = 3000 * kNsPerMs;
// How soon it is seen that the transport is away, or there again.
constexpr std::uint64_t kLook_ns = 1000 * kNsPerMs;
constexpr std::uint64_t kMostParcelWait_ns = 2000 * kNsPerMs;
constexpr std::uint64_t kParcelRound_ns = 20 * kNsPerMs;
// The most of the time after which a letter is sent again that the stream has not answered.
constexpr std::uint64_t kMostPatience_ns = 8'000 * kNsPerMs;
// A link of 64 KB a second is one that is waited for.
constexpr std::uint64_t kNsPerByte = 1'000'000'000 / (64 * 1024);
constexpr std::size_t kMostFlying = 256;
constexpr std::size_t kMostFlyingBytes = 1u << 20;

// Behind the last dot of the subject that an answer came to.
std::uint64_t number_of(std::string_view subject) {
  const std::string_view digits = subject.substr(subject.rfind('.') + 1);
  std::uint64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

}  // namespace

Link::Link(Address address, std::string name, std::size_t most_bytes, std::function<void()> changed)
    : address_(std::move(address)),
      name_(std::move(name)),
      changed_(std::move(changed)),
      arrivals_(std::make_shared<Arrivals>()),
      outbox_(most_bytes) {}

Link::~Link() {
  if (rounds_ == nullptr) return;
  finish();
  {
    std::unique_lock lock(mutex_);
    const std::uint64_t now_ns = arch::monotonic_ns();
    const std::uint64_t left_ns = last_words_until_ns_ > now_ns ? last_words_until_ns_ - now_ns : 0;
    emptied_.wait_for(lock, std::chrono::nanoseconds(left_ns), [&] { return is_empty(); });
  }
  arrivals_->close();
  rounds_->remove(member_);
}

Result<void> Link::start(Rounds& rounds) {
  LT_TRY(Transport transport, Transport::keep_connecting(address_, name_));
  transport_.emplace(std::move(transport));
  LT_TRY(replies_, transport_->new_inbox());
  LT_TRY(answers_, transport_->hear(replies_ + ".*", [arrivals = arrivals_](natsMsg* message) {
    arrivals->add(Arrivals::Answer{number_of(natsMsg_GetSubject(message)), Transport::is_stored(message)});
  }));
  rounds_ = &rounds;
  const std::lock_guard lock(mutex_);  // its first round may begin now
  member_ = rounds.add([this] { return round(); });
  arrivals_->open([this] { rounds_->ring(member_); });
  return {};
}

void Link::ring() {
  if (rounds_ != nullptr) rounds_->ring(member_);
}

void Link::finish() {
  {
    const std::lock_guard lock(mutex_);
    if (last_words_until_ns_ == 0) last_words_until_ns_ = arch::monotonic_ns() + kLastWords_ns;
  }
  ring();
}

bool Link::is_empty() const { return outbox_.is_empty() && parts_.empty() && told_.empty() && !has_letters_flying_; }

bool Link::has_sent_all() const {
  const std::lock_guard lock(mutex_);
  return is_empty();
}

bool Link::send(Outbox::Letter letter) {
  bool has_room = false;
  {
    const std::lock_guard lock(mutex_);
    has_room = outbox_.put(std::move(letter));
  }
  ring();
  return has_room;
}

bool Link::send_if_room(Outbox::Letter& letter) {
  {
    const std::lock_guard lock(mutex_);
    if (!outbox_.has_room(letter)) return false;
    outbox_.put(std::move(letter));
  }
  ring();
  return true;
}

void Link::count_unsent(std::uint64_t letters) {
  const std::lock_guard lock(mutex_);
  given_up_ += letters;
}

void Link::tell(ToldLines lines) {
  constexpr std::size_t kMostTold = 64;
  {
    const std::lock_guard lock(mutex_);
    if (told_.size() >= kMostTold) {
      told_.pop_front();
      ++untold_;
    }
    told_.push_back(std::move(lines));
  }
  ring();
}

void Link::ask_for_time(std::string subject, TimeAnswered answered) {
  {
    const std::lock_guard lock(mutex_);
    questions_.emplace_back(std::move(subject), std::move(answered));
  }
  ring();
}

Result<void> Link::send(Parcel parcel) {
  constexpr std::size_t kMostParcels = 2;
  {
    const std::lock_guard lock(mutex_);
    if (parcels_.size() >= kMostParcels) return fail(EBUSY, "snapshots for others are under way: try it again");
    parcels_.push_back(std::move(parcel));
  }
  ring();
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
  return outbox_.dropped() + too_large_ + untold_ + given_up_;
}

std::size_t Link::most_bytes() const {
  constexpr std::size_t kUsual = 1u << 20;
  const std::size_t most = transport_ ? transport_->most_bytes() : 0;
  return most > 0 ? most : kUsual;
}

std::uint64_t Link::round() {
  const std::uint64_t now_ns = arch::monotonic_ns();
  if (!transport_->is_connected() || !is_prepared()) return now_ns + kPause_ns;
  bool goes_on = true;
  {
    const std::lock_guard lock(mutex_);
    goes_on = last_words_until_ns_ == 0;
  }
  take_answers(now_ns);
  if (goes_on) look_for_orders(now_ns);
  while (answer_one_question() || tell_one() || send_one(now_ns)) {
  }
  if (goes_on) send_some_of_parcel();
  {
    const std::lock_guard lock(mutex_);
    has_letters_flying_ = !flying_.empty();
    if (is_empty()) emptied_.notify_all();
  }
  return next_round_ns(now_ns);
}

std::uint64_t Link::next_round_ns(std::uint64_t now_ns) const {
  std::uint64_t next_ns = std::min(now_ns + kLook_ns, mirror_.next_ns());
  if (parcel_) next_ns = std::min(next_ns, std::max(now_ns, parcel_waits_until_ns_));
  for (const auto& [number, flying] : flying_) next_ns = std::min(next_ns, overdue_ns(flying));
  if (pause_until_ns_ > now_ns) next_ns = std::min(next_ns, pause_until_ns_);
  return next_ns;
}

bool Link::is_prepared() {
  if (!is_prepared_) is_prepared_ = transport_->prepare().has_value();
  return is_prepared_;
}

void Link::look_for_orders(std::uint64_t now_ns) {
  mirror_.look(*transport_, arrivals_, now_ns);
  if (!mirror_.is_whole()) return;
  {
    const std::lock_guard lock(mutex_);
    if (orders_ == mirror_.orders()) return;
    orders_ = mirror_.orders();
    orders_are_new_ = true;
  }
  changed_();
}

// It is the next one again, unless a newer one waits.
void Link::take_back(std::uint64_t number) {
  const auto found = flying_.find(number);
  if (found == flying_.end()) return;
  is_doubtful_ = true;
  Outbox::Letter letter = std::move(found->second.letter);
  flying_.erase(found);
  flying_bytes_ -= letter.size();
  letter.number = number;
  const std::lock_guard lock(mutex_);
  if (whole_of(letter.subject)) {
    parts_.push_front(std::move(letter));
  } else {
    outbox_.put_back(std::move(letter));
  }
}

// It may have been taken back, and its answer come late.
void Link::forget(std::uint64_t number) {
  if (const auto found = flying_.find(number); found != flying_.end()) {
    flying_bytes_ -= found->second.letter.size();
    flying_.erase(found);
    return;
  }
  const std::lock_guard lock(mutex_);
  outbox_.forget(number);
  std::erase_if(parts_, [&](const Outbox::Letter& part) { return part.number == number; });
}

// While others are answered it has time: a slow link has them to carry first. A large one takes its own.
std::uint64_t Link::overdue_ns(const Flying& flying) const {
  const std::uint64_t own_ns = flying.letter.size() * kNsPerByte;
  return std::max(flying.sent_ns, answered_ns_) + patience_ns_ + own_ns;
}

// What was on its way when the connection ended, or has had no answer for long, may have arrived or not: it is sent
// again, under its number, so that an answer to any of these times will do. It counts once.
void Link::take_answers(std::uint64_t now_ns) {
  for (const Arrivals::Answer& answer : arrivals_->take_answers()) {
    answered_ns_ = now_ns;
    if (!answer.is_stored) {
      if (flying_.contains(answer.number)) pause_until_ns_ = now_ns + kPause_ns;
      take_back(answer.number);
      continue;
    }
    is_doubtful_ = false;
    patience_ns_ = kPatience_ns;
    forget(answer.number);
  }
  const std::uint64_t reconnects = transport_->reconnects();
  bool has_waited = false;
  for (auto next = flying_.begin(); next != flying_.end();) {
    const auto& [number, flying] = *next++;
    const bool is_overdue = now_ns >= overdue_ns(flying);
    if (reconnects == reconnects_ && !is_overdue) continue;
    has_waited = has_waited || is_overdue;
    take_back(number);
  }
  if (reconnects != reconnects_) patience_ns_ = kPatience_ns;
  if (has_waited) patience_ns_ = std::min(2 * patience_ns_, kMostPatience_ns);
  reconnects_ = reconnects;
}

std::optional<ToldLines> Link::next_lines() {
  constexpr std::size_t kHead = 128;  // for how many there were before
  const std::size_t most = transport_->most_bytes();
  const std::lock_guard lock(mutex_);
  if (told_.empty() || most <= kHead) return std::nullopt;
  const std::uint64_t before = told_.front().before;
  ToldLines lines = take_lines(told_.front(), most - kHead);
  untold_ += lines.before - before;
  if (told_.front().lines.empty()) told_.pop_front();
  return lines;
}

bool Link::tell_one() {
  const auto lines = next_lines();
  if (!lines) return false;
  if (transport_->tell(*lines)) return true;
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
  changed_();
  return true;
}

// Several times, but not for long: the moment that it is for comes nearer. One or two may have been held up in one
// direction, and say little.
std::optional<ClockOffset> Link::compare_clocks(const std::string& subject) const {
  constexpr std::size_t kTimes = 8, kLeastTimes = 3;
  constexpr std::int64_t kMostWait_ms = 1000;
  constexpr std::uint64_t kLongEnough_ns = 200'000'000;
  std::vector<RoundTrip> trips;
  const std::uint64_t began_ns = arch::monotonic_ns();
  while (trips.size() < kLeastTimes || (trips.size() < kTimes && arch::monotonic_ns() - began_ns < kLongEnough_ns)) {
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
  if (parcel_ && mirror_.is_whole() && !mirror_.orders().contains(parcel_->order)) parcel_.reset();
  if (parcel_) return true;
  if (parcels_.empty()) return false;
  parcel_ = std::move(parcels_.front());
  parcels_.pop_front();
  sent_bytes_ = 0;
  part_bytes_ = kMostPartBytes;
  parcel_waits_until_ns_ = parcel_wait_ns_ = 0;
  return true;
}

// Who refuses it may have no room for long, or give no leave to. Where there is no answer in time the link may be too
// slow for so much at once.
void Link::put_parcel_off(const Error& why) {
  if (why.code == ETIMEDOUT) part_bytes_ = std::max(part_bytes_ / 2, kLeastPartBytes);
  parcel_wait_ns_ = std::clamp(2 * parcel_wait_ns_, kPause_ns, kMostParcelWait_ns);
  parcel_waits_until_ns_ = arch::monotonic_ns() + parcel_wait_ns_;
}

// For kParcelRound_ns or so, so that all else is sent in between. What fails is tried again.
void Link::send_some_of_parcel() {
  if (!take_parcel() || arch::monotonic_ns() < parcel_waits_until_ns_) return;
  const std::size_t most = std::min(part_bytes_, transport_->most_bytes()) - kPartHead;
  const std::uint64_t pause_ns = arch::monotonic_ns() + kParcelRound_ns;
  while (sent_bytes_ < parcel_->file.size()) {
    if (arch::monotonic_ns() > pause_ns) return;
    const SnapshotPart part{parcel_->end.generation, sent_bytes_,
                            std::string_view(parcel_->file).substr(sent_bytes_, most)};
    const std::string subject = parcel_->subject + "." + std::to_string(parcel_->end.parts);
    if (const auto sent = transport_->publish(subject, encode(part)); !sent) return put_parcel_off(sent.error());
    parcel_wait_ns_ = 0;
    sent_bytes_ += part.bytes.size();
    ++parcel_->end.parts;
  }
  const auto ended = transport_->publish(parcel_->subject + "." + kSnapshotEnd, json_of(parcel_->end));
  if (!ended) return put_parcel_off(ended.error());
  parcel_.reset();
}

// What fits into a message, as the server there has it now. All parts of a frame come before the next one, so that
// newer frames keep none from being complete.
std::optional<Outbox::Letter> Link::next_letter() {
  const std::size_t most = transport_->most_bytes();
  const std::lock_guard lock(mutex_);
  while (most > 0) {
    std::optional<Outbox::Letter> letter;
    if (parts_.empty()) {
      letter = outbox_.take(flying_.empty());
    } else {
      letter = std::move(parts_.front());
      parts_.pop_front();
    }
    if (!letter) return std::nullopt;
    if (letter->bytes.size() <= most) {
      has_letters_flying_ = true;
      return letter;
    }
    auto parts = in_parts(*letter, most);
    if (!parts) ++too_large_;
    if (parts) parts_.insert(parts_.begin(), parts->begin(), parts->end());
  }
  return std::nullopt;
}

// False: there is nothing, or it cannot be sent now.
bool Link::send_one(std::uint64_t now_ns) {
  const std::size_t most = is_doubtful_ ? 1 : kMostFlying;
  if (now_ns < pause_until_ns_ || flying_.size() >= most || flying_bytes_ >= kMostFlyingBytes) return false;
  std::optional<Outbox::Letter> letter = next_letter();
  if (!letter) return false;
  const std::uint64_t number = letter->number != 0 ? letter->number : next_number_++;
  const auto sent = transport_->send(letter->subject, replies_ + "." + std::to_string(number), letter->bytes);
  flying_bytes_ += letter->size();
  flying_.emplace(number, Flying{*std::move(letter), now_ns});
  if (!sent) {
    pause_until_ns_ = now_ns + kPause_ns;
    take_back(number);
  }
  return sent.has_value();
}

}  // namespace landtrace::fleet
