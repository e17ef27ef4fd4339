#include "segments/grace.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <iterator>
#include <thread>

#include "plan/section.hpp"
#include "plan/thread_slots.hpp"

namespace landtrace::segments {
namespace {

constexpr std::size_t kMaxBatches = 4;
constexpr auto kCheckInterval = std::chrono::seconds(1);
// Who was late once may take turns at it: for as long as this they get less patience from others.
constexpr auto kStaysLate = std::chrono::seconds(10);
constexpr auto kLatePatience = std::chrono::milliseconds(2);

// Every running thread of an attached process passes a full barrier: its earlier stores are visible, and its later
// loads see what was published. A thread that is not running passed one when it was switched out.
void barrier_everywhere() {
  if (::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) == 0) return;
  if (::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) == 0) return;
  // No membarrier (a sandbox): no store buffer holds anything back for as long as this.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

// Pairs with the release store in ~Section(), plan/section.hpp: what a thread outside has read, it has read.
std::uint64_t section_of(const plan::ThreadSlot& slot) { return __atomic_load_n(&slot.section, __ATOMIC_ACQUIRE); }

// Pairs with the release stores in client/process.cc: what the thread stored in its slot before is seen.
bool is_unregistered(const plan::ThreadSlot& slot) {
  return __atomic_load_n(&slot.unregistered, __ATOMIC_ACQUIRE) != 0;
}

bool is_inside(std::uint64_t section) { return (section & plan::kDepthMask) != 0; }

// A signal handler may be inside, one deeper.
bool is_same(std::uint64_t one, std::uint64_t other) {
  return (one & ~plan::kDepthMask) == (other & ~plan::kDepthMask);
}

template <typename Inside>
bool is_same(const Inside& one, const Inside& other) {
  return one.slot == other.slot && one.unregistered == other.unregistered && is_same(one.section, other.section);
}

}  // namespace

void Holders::add(const Holders& others) {
  until_needed = until_needed && others.until_needed;
  if (!uids || !others.uids) {
    uids.reset();
    return;
  }
  for (const std::uint32_t uid : *others.uids) {
    if (std::find(uids->begin(), uids->end(), uid) == uids->end()) uids->push_back(uid);
  }
}

void Grace::count_named(const Holders& holders, bool comes) {
  if (!holders.uids) return;
  for (const std::uint32_t uid : *holders.uids) {
    std::size_t& count = named_[uid];
    count += comes ? 1 : -1;
    if (count == 0) named_.erase(uid);
  }
}

void Grace::after_readers(std::function<void()> free, Holders holders) {
  count_named(holders, true);
  fresh_.push_back({std::move(free), std::move(holders)});
}

// Whoever is known to be late is passed over: what its user may hold waits for it in any case.
void Grace::look_for_readers(Batch& batch, Clock::time_point now) const {
  const auto look = [](const plan::ThreadSlot& slot, auto& inside, Clock::time_point ends) {
    const std::uint64_t section = section_of(slot);
    const bool unregistered = is_unregistered(slot);
    if (!is_inside(section) && !unregistered) return;
    inside.push_back({&slot, section, __atomic_load_n(&slot.pid, __ATOMIC_RELAXED),
                      __atomic_load_n(&slot.tid, __ATOMIC_RELAXED), ends, unregistered});
  };
  for (const User& user : users_.all()) {
    const plan::DataSegment& data = user.data();
    const auto late = late_.find(user.uid);
    std::vector<Inside> inside;
    const auto patience = late == late_.end() ? Clock::duration(kPatience) : Clock::duration(kLatePatience);
    const std::uint32_t high = std::min(__atomic_load_n(&data.thread_high, __ATOMIC_RELAXED), plan::kMaxThreads);
    for (std::uint32_t i = 0; i < high; ++i) look(data.threads[i], inside, now + patience);
    const auto is_known = [&](const Inside& reader, const std::vector<Inside>& readers) {
      const auto found = std::lower_bound(readers.begin(), readers.end(), reader.slot,
                                          [](const Inside& one, const auto* slot) { return one.slot < slot; });
      return found != readers.end() && is_same(*found, reader) ? &*found : nullptr;
    };
    if (late != late_.end()) {
      std::erase_if(inside, [&](const Inside& reader) { return is_known(reader, late->second.inside) != nullptr; });
    }
    // Whoever was waited for before is not waited for any longer since something else joins.
    auto& before = batch.inside[user.uid];
    for (Inside& reader : inside) {
      if (const Inside* const known = is_known(reader, before)) reader.patience_ends = known->patience_ends;
    }
    before = std::move(inside);
    if (before.empty()) batch.inside.erase(user.uid);
  }
  batch.own.clear();
  for (const plan::ThreadSlot& slot : own_) look(slot, batch.own, Clock::time_point::max());
}

// Beyond some batches the new frees join the last one, and all of it waits for who is inside now: waiting longer than
// necessary is always safe.
void Grace::queue_fresh(Clock::time_point now) {
  if (fresh_.empty()) return;
  barrier_everywhere();
  if (waiting_.size() < kMaxBatches) waiting_.emplace_back();
  Batch& last = waiting_.back();
  std::move(fresh_.begin(), fresh_.end(), std::back_inserter(last.frees));
  fresh_.clear();
  look_for_readers(last, now);
}

namespace {

// Looks anew at those whose process has got the barriers since: what a thread stored before is seen behind another one.
template <typename Readers>
void look_again(Readers& readers) {
  bool is_behind_barrier = false;
  for (auto& reader : readers) {
    if (!reader.unregistered || is_unregistered(*reader.slot)) continue;
    if (!std::exchange(is_behind_barrier, true)) barrier_everywhere();
    reader.unregistered = false;
    reader.section = section_of(*reader.slot);
  }
}

template <typename Readers>
void drop_those_that_left(Readers& readers, bool check_lives) {
  look_again(readers);
  std::erase_if(readers, [check_lives](const auto& reader) {
    const std::uint64_t section = section_of(*reader.slot);
    const bool left = !reader.unregistered && (!is_inside(section) || !is_same(section, reader.section));
    return left || reader.tid == 0 || (check_lives && plan::thread_is_gone(reader.pid, reader.tid));
  });
}

template <typename Time>
bool is_due(Time& next_check, Time now) {
  if (now < next_check) return false;
  next_check = now + kCheckInterval;
  return true;
}

}  // namespace

// Those who have used up our patience are their user's business from here on.
void Grace::look_after(Batch& batch, Clock::time_point now) {
  const bool check_lives = is_due(batch.next_check, now);
  drop_those_that_left(batch.own, false);
  for (auto& [uid, inside] : batch.inside) {
    drop_those_that_left(inside, check_lives);
    const auto first_late = std::stable_partition(inside.begin(), inside.end(),
                                                  [now](const Inside& reader) { return now < reader.patience_ends; });
    if (first_late == inside.end()) continue;
    LateUser& late = late_[uid];
    late.ends = now + kStaysLate;
    late.next_check = now + kCheckInterval;
    // What waits already for those that were late before waits for these, too: for longer than it must, which is safe.
    late.inside.insert(late.inside.end(), first_late, inside.end());
    std::stable_sort(late.inside.begin(), late.inside.end(),
                     [](const Inside& one, const Inside& other) { return one.slot < other.slot; });
    const auto end = std::unique(late.inside.begin(), late.inside.end(),
                                 [](const Inside& one, const Inside& other) { return is_same(one, other); });
    late.inside.erase(end, late.inside.end());
    inside.erase(first_late, inside.end());
  }
  std::erase_if(batch.inside, [](const auto& entry) { return entry.second.empty(); });
}

void Grace::release(std::vector<std::shared_ptr<Held>>& list) {
  for (const auto& held : std::exchange(list, {})) {
    if (--held->lists == 0 && held->run) std::exchange(held->run, nullptr)();
  }
}

// What came while somebody was waited for waits for whoever is inside when they have gone.
void Grace::look_after(LateUser& user, std::uint32_t uid, Clock::time_point now) {
  if (user.now.empty() && user.next.empty() && user.inside.empty()) return;
  drop_those_that_left(user.inside, is_due(user.next_check, now));
  if (!user.inside.empty()) return;
  user.ends = now + kStaysLate;
  release(user.now);
  if (user.next.empty()) return;
  user.now = std::exchange(user.next, {});
  Batch look;
  look_for_readers(look, now);
  if (const auto found = look.inside.find(uid); found != look.inside.end()) {
    user.inside = std::move(found->second);
  } else {
    release(user.now);
  }
}

// Nobody is inside but those that are late.
void Grace::end(Batch batch) {
  for (Free& free : batch.frees) {
    count_named(free.holders, false);
    std::vector<LateUser*> holders;
    for (auto& [uid, user] : late_) {
      const auto& uids = free.holders.uids;
      const bool may_hold = !uids || std::find(uids->begin(), uids->end(), uid) != uids->end();
      if (may_hold && !user.inside.empty()) holders.push_back(&user);
    }
    if (holders.empty()) {
      free.run();
      continue;
    }
    const auto held = std::make_shared<Held>(Held{std::move(free.run), free.holders.until_needed, holders.size()});
    for (LateUser* const user : holders) user->next.push_back(held);
    held_.push_back(held);
  }
}

bool Grace::poll(Clock::time_point now) {
  queue_fresh(now);
  for (Batch& batch : waiting_) look_after(batch, now);
  for (auto& [uid, user] : late_) look_after(user, uid, now);
  while (!waiting_.empty() && waiting_.front().inside.empty() && waiting_.front().own.empty()) {
    Batch done = std::move(waiting_.front());
    waiting_.pop_front();
    end(std::move(done));
  }
  std::erase_if(held_, [](const auto& held) { return !held->run; });
  std::erase_if(late_, [now](const auto& entry) {
    const LateUser& user = entry.second;
    return user.inside.empty() && user.now.empty() && user.next.empty() && now >= user.ends;
  });
  return is_waiting();
}

std::size_t Grace::held_by(std::uint32_t uid) const {
  const auto late = late_.find(uid);
  return late == late_.end() ? 0 : late->second.now.size() + late->second.next.size();
}

std::size_t Grace::waiting_of(std::uint32_t uid) const {
  const auto named = named_.find(uid);
  return held_by(uid) + (named == named_.end() ? 0 : named->second);
}

Result<void> Grace::check_room(std::uint32_t uid) {
  if (waiting_of(uid) >= kMaxWaiting) poll();
  const std::size_t waiting = waiting_of(uid);
  if (waiting < kMaxWaiting) return {};
  return fail(ENOSPC, std::to_string(waiting) + " things of uid " + std::to_string(uid) +
                          " wait for a program that is in the middle of an event");
}

bool Grace::let_go(const std::vector<std::shared_ptr<Held>>& held) {
  for (const auto& one : held) std::exchange(one->run, nullptr)();
  std::erase_if(held_, [](const auto& one) { return !one->run; });
  for (auto& [uid, user] : late_) {
    for (auto* const list : {&user.now, &user.next}) std::erase_if(*list, [](const auto& one) { return !one->run; });
  }
  return !held.empty();
}

bool Grace::give_way() {
  std::vector<std::shared_ptr<Held>> going;
  std::copy_if(held_.begin(), held_.end(), std::back_inserter(going),
               [](const auto& one) { return one->run && one->until_needed; });
  return let_go(going);
}

bool Grace::give_way_entirely() {
  std::vector<std::shared_ptr<Held>> most;
  for (const auto& [uid, user] : late_) {
    std::vector<std::shared_ptr<Held>> own;
    for (const auto* const list : {&user.now, &user.next}) {
      std::copy_if(list->begin(), list->end(), std::back_inserter(own),
                   [](const auto& one) { return one->run && one->lists == 1 && !one->until_needed; });
    }
    if (own.size() > most.size()) most = std::move(own);
  }
  if (most.empty()) {
    std::copy_if(held_.begin(), held_.end(), std::back_inserter(most),
                 [](const auto& one) { return one->run != nullptr; });
  }
  return let_go(most);
}

void Grace::settle(std::chrono::milliseconds limit) {
  after_readers([] {}, Holders::these({}));  // there is something to wait for, also where nothing is to be freed
  const auto end = Clock::now() + limit;
  for (poll(); !waiting_.empty() && Clock::now() < end; poll()) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

bool Grace::drain(std::chrono::milliseconds limit) {
  const auto end = Clock::now() + limit;
  while (poll()) {
    if (Clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return true;
}

plan::ThreadSlot& Grace::take_own_slot() {
  // Our own threads must be reached by the barrier, as those of producers are.
  if (own_.empty()) ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0);
  // Pairs with the release store in give_back(): the thread that had it has left its last section.
  const auto free = std::find_if(own_.begin(), own_.end(), [](const plan::ThreadSlot& slot) {
    return __atomic_load_n(&slot.tid, __ATOMIC_ACQUIRE) == 0;
  });
  plan::ThreadSlot& slot = free == own_.end() ? own_.emplace_back() : *free;
  slot.tid = static_cast<std::uint32_t>(::syscall(SYS_gettid));
  slot.pid = static_cast<std::uint32_t>(::getpid());
  return slot;
}

// Pairs with the acquire load above.
void Grace::give_back(plan::ThreadSlot& own) { __atomic_store_n(&own.tid, 0, __ATOMIC_RELEASE); }

}  // namespace landtrace::segments
