#include "domain/domain.hpp"

#include <algorithm>
#include <unordered_set>

#include "plan/thread_slots.hpp"

namespace landtrace::domain {
namespace {

constexpr std::uint32_t kMinClaimed = 8;
constexpr std::uint64_t kMinDataBytes = 1ull << 30;
// Memory that a guest may have written to though it is not to be written to; what is more is looked at.
constexpr std::uint64_t kUnasked = 16 << 20;
// Of those that a guest's segment names: looking at one costs something, and everybody waits.
constexpr std::size_t kMostProcesses = 64;
constexpr std::uint64_t kInstancesOfTopSize = 8;  // room in the arena; sparse

// By any of its ids: a program may have changed its user.
bool is_process_of(std::uint32_t pid, std::uint32_t uid) {
  const auto status = read_file("/proc/" + std::to_string(pid) + "/status");  // there is none of pid 0
  const auto line = status ? status->find("\nUid:") : std::string::npos;
  if (line == std::string::npos) return false;
  const std::string ids = status->substr(line + 1, status->find('\n', line + 1) - line - 1) + '\t';
  return ids.find('\t' + std::to_string(uid) + '\t') != std::string::npos;
}

}  // namespace

Domain::Domain(ControlMemory control, StatusPages pages, std::uint64_t data_bytes, const Options& options)
    : subordinate_ids_(options.subordinate_ids),
      control_(std::move(control)),
      pages_(std::move(pages)),
      users_(data_bytes),
      descriptors_(options.owner_uid),
      registrar_(events_, files_, enable_words_, rules_, abi(), options.owner_uid) {
  enable_words_.set_owner(options.owner_uid);
  events_.set_up(options.owner_uid, plans_);
  users_.set_room_maker(&grace_);
  cells_.set_room_maker(&grace_);
  cells_.set_writers(this);
  control_.set_room_maker(&grace_);
}

Result<std::unique_ptr<Domain>> Domain::create(const Options& options) {
  const auto cpus = static_cast<std::uint32_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_CONF)));
  const std::uint32_t claimed = std::max(kMinClaimed, cpus);
  const auto geometry = ring::Geometry::holding(options.ring_bytes);
  const std::uint64_t data_bytes =
      std::max(kMinDataBytes, sizeof(plan::DataSegment) + kInstancesOfTopSize * geometry.stride() * (cpus + claimed));
  LT_TRY(ControlMemory control, ControlMemory::create({static_cast<std::uint32_t>(options.raw_clock), cpus, claimed,
                                                       data_bytes, options.abi}));
  LT_TRY(StatusPages pages, StatusPages::create());
  std::unique_ptr<Domain> domain(new Domain(std::move(control), std::move(pages), data_bytes, options));
  domain->draw_counter_line();
  LT_TRY([[maybe_unused]] Instance* const top, domain->instances_.create("", geometry, true, true));
  return domain;
}

bool Domain::are_trusted(std::uint32_t uid) { return !registrar_.is_guest(uid); }

bool Domain::has_anything(std::uint32_t uid) const {
  return descriptors_.taken_by(uid) > 0 || files_.count_of(uid) > 0 || events_.count_of(uid) > 0 ||
         grace_.held_by(uid) > 0;
}

// Nothing of the user is open, and none of its threads lives. What its segment says of threads it may have made up.
bool Domain::has_left(const User& user, Time now) {
  if (!registrar_.is_guest(user.uid) || has_anything(user.uid)) {
    absent_since_.erase(user.uid);
    return false;
  }
  const Time since = absent_since_.try_emplace(user.uid, now).first->second;
  plan::free_dead_thread_slots(user.data(), 0);
  const std::uint32_t high = std::min(__atomic_load_n(&user.data().thread_high, __ATOMIC_RELAXED), plan::kMaxThreads);
  const bool counts_unknown = now - since < kUnknownThreadsStay;
  std::unordered_set<std::uint32_t> processes;
  for (std::uint32_t i = 0; i < high && processes.size() < kMostProcesses; ++i) {
    const plan::ThreadSlot& slot = user.data().threads[i];
    if (__atomic_load_n(&slot.tid, __ATOMIC_RELAXED) == 0) continue;
    const std::uint32_t pid = __atomic_load_n(&slot.pid, __ATOMIC_RELAXED);
    if (counts_unknown || (processes.insert(pid).second && is_process_of(pid, user.uid))) return false;
  }
  return true;
}

// The one that came first of those. Histograms add up what each user's producers have counted, so with them all stay.
std::optional<std::uint32_t> Domain::find_one_who_left(const std::vector<std::uint32_t>* only, Time now) {
  std::optional<std::uint32_t> found;
  for (std::uint32_t i = 0; i < users_.all().size() && !users_.are_kept(); ++i) {
    if (only != nullptr && std::ranges::find(*only, i) == only->end()) continue;
    const bool is_first = !found || users_.all()[i].serial < users_.all()[*found].serial;
    if (is_first && has_left(users_.all()[i], now)) found = i;
  }
  return found;
}

Result<std::uint32_t> Domain::replace(std::uint32_t user, std::uint32_t uid) {
  grace_.settle();
  instances_.user_goes(user);
  cells_.take_over(user);
  absent_since_.erase(users_.all()[user].uid);
  LT_CHECK(users_.replace(user, uid));
  cells_.spread();
  attention_.look_again();
  // Pairs with the acquire load in DomainView::map_new_users().
  __atomic_fetch_add(&control_.segment().user_changes, 1, __ATOMIC_RELEASE);
  return user;
}

Result<std::uint32_t> Domain::find_place(std::uint32_t uid, Time now) {
  constexpr std::size_t kMostOfOne = plan::kMaxUsers / 4;
  const auto is_known = [uid](const User& user) { return user.uid == uid; };
  if (std::ranges::any_of(users_.all(), is_known)) return users_.find_or_create(uid);
  std::vector<std::uint32_t> of_same;
  const auto ids = programs::SubordinateIds::read(subordinate_ids_);
  const std::string holder = registrar_.is_guest(uid) ? ids.holder_of(uid) : std::string();
  for (std::uint32_t i = 0; i < users_.all().size() && !holder.empty(); ++i) {
    if (ids.holder_of(users_.all()[i].uid) == holder) of_same.push_back(i);
  }
  const bool has_too_many = of_same.size() >= kMostOfOne;
  if (!has_too_many && users_.all().size() < plan::kMaxUsers) return users_.find_or_create(uid);
  if (const auto left = find_one_who_left(has_too_many ? &of_same : nullptr, now)) return replace(*left, uid);
  if (!has_too_many) {
    return fail(ENOSPC,
                "the domain has " + std::to_string(plan::kMaxUsers) + " users, as many as it can, and none has left");
  }
  return fail(ENOSPC, "the user ids that " + subordinate_ids_ + " gives to " + holder + " are " +
                          std::to_string(kMostOfOne) +
                          " of the domain's users, as many as they may, and none has left");
}

Result<std::uint32_t> Domain::join(std::uint32_t uid, Time now) {
  LT_TRY(const std::uint32_t user, find_place(uid, now));
  absent_since_.erase(uid);
  const auto count = static_cast<std::uint32_t>(users_.all().size());
  if (control_.segment().user_count == count) return user;
  // Switches that were thrown before the user came hold for its producers, too: they are told before anybody finds it.
  cells_.spread();
  attention_.watch(&users_.all()[user].data().attention);
  // Without an acquire as its partner: tell_others(), plan/triggers.cc, reads it without an order. A cell that a
  // producer changes meanwhile, and does not tell of, is carried over since watch() makes the owner look once more.
  __atomic_store_n(&control_.segment().user_count, count, __ATOMIC_RELEASE);
  return user;
}

std::vector<std::uint32_t> Domain::processes() const {
  std::vector<std::uint32_t> pids = enable_words_.processes();
  const auto keepers = files_.keepers();
  pids.insert(pids.end(), keepers.begin(), keepers.end());
  return pids;
}

bool Domain::processes_ended() {
  const bool waiting = enable_words_.sweep();
  files_.drop_dead_keepers();
  return waiting;
}

void Domain::draw_counter_line() {
  plan::ControlSegment& segment = control_.segment();
  if (static_cast<arch::RawClock>(segment.raw_clock) != arch::RawClock::kTsc) return;
  counter_painter_.refresh(segment.counter_line);
}

bool Domain::maintain() {
  const bool waiting = enable_words_.sweep();
  succession_.let_go_when_due();
  return grace_.poll() || waiting;
}

bool Domain::look_after_guests(Time now) {
  bool any = false;
  for (const User& user : users_.all()) {
    if (!registrar_.is_guest(user.uid)) continue;
    const bool is_present = descriptors_.taken_by(user.uid) > 0;
    any |= is_present;
    if (has_anything(user.uid)) {
      absent_since_.erase(user.uid);
    } else {
      absent_since_.try_emplace(user.uid, now);
    }
    if (user.memory() > users_.most_memory() + (is_present ? kUnasked : 0)) users_.trim(user);
  }
  return any;
}

void Domain::shut_down() {
  // Words first: a program that is in the middle of an event finds its plan yet, and the next event is none.
  enable_words_.clear_all();
  for (Event* const event : events_.all()) {
    plans_.withdraw(*event);
    pages_.set(Page::kBits, event->status_bit, false);
    pages_.set(Page::kBytes, event->status_byte, false);
  }
  succession_.end();
}

}  // namespace landtrace::domain
