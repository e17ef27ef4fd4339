#include "agent/data_plane.hpp"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <ctime>

#include "agent/raw.hpp"
#include "agent/stubs.hpp"

#if !defined(__x86_64__)
// There are no stubs yet that would lead here.
#pragma GCC diagnostic ignored "-Wunused-function"
#endif

namespace landtrace::agent {

extern "C" {
[[gnu::visibility("hidden")]] Slot lt_agent_slots[kSlots];
#if defined(__x86_64__)
[[gnu::visibility("hidden")]] extern const char lt_agent_return_stubs[];
[[gnu::visibility("hidden")]] extern const char lt_agent_return_stubs_end[];
#endif
}

CodeRange return_stubs() {
#if defined(__x86_64__)
  return {reinterpret_cast<std::uint64_t>(lt_agent_return_stubs),
          reinterpret_cast<std::uint64_t>(lt_agent_return_stubs_end)};
#else
  return {};
#endif
}

namespace {

// There from a thread's first instruction, without a call: the object is loaded with the program's own share of TLS.
[[gnu::tls_model("initial-exec")]] thread_local constinit ThreadState state{};

Handlers handlers{};
LoaderChanges changes{};
// LoaderChanges::seen, when it was waited for in vain: nobody looks, as in a child that was forked past the handlers.
std::uint64_t seen_in_vain = ~0ull;
// The process that has this memory; 0: not known yet. On a page that fork wipes.
std::uint32_t* process_of_memory;
// The thread that takes slots of a chunk; 0: none. Slots are taken only by that thread and its signal handlers, so
// taking one needs no locked instruction. They are freed by whichever thread the call ends in.
std::uint32_t owners[kChunks];
std::uint32_t owned_chunks;
std::uint32_t chunk_after[kChunks];  // the one that the same thread took next, + 1
std::uint32_t chunks_ever;           // no chunk from here on has been used yet

constexpr std::uint32_t kKeptChunks = 16;  // by a thread that needs few slots again

// In a slot's word: it is being filled or emptied; its call counts against its site's limit.
constexpr std::uint64_t kInUse = 1;
constexpr std::uint64_t kCounted = 2;
constexpr unsigned kSerialShift = 48;
constexpr std::uint64_t kStackMask = (1ull << kSerialShift) - 1 - kInUse - kCounted;
constexpr std::uint64_t kFrame = sizeof(Registers) + 8;
constexpr std::uint64_t kRedZone = 128;
constexpr long kSecond = 1'000'000'000;

Registers* const kIgnored = reinterpret_cast<Registers*>(1);

std::uint64_t& word_at(std::uint64_t address) { return *reinterpret_cast<std::uint64_t*>(address); }

std::uint32_t chunk_of(const Slot* slot) { return static_cast<std::uint32_t>(slot - lt_agent_slots) / kSlotsInChunk; }

std::uint64_t stub_of(const Slot* slot) {
  return return_stubs().begin + static_cast<std::uint64_t>(slot - lt_agent_slots) * kReturnStubSize;
}

// Where a probed function returns to: behind the stub's call.
constexpr std::uint64_t kAfterCall = 11;

void count_missed(const Site* site, std::uint32_t wants) {
  __atomic_fetch_add(const_cast<std::uint64_t*>(&site->missed), 1, __ATOMIC_RELAXED);
  if (handlers.missed != nullptr) handlers.missed(site, wants & site->wants);
}

void find_process_of_memory() {
  constexpr long kPageSize = 4096;
  if (process_of_memory == nullptr) {
    const long page = raw(SYS_mmap, 0, kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page < 0 && page > -kPageSize) return;
    if (raw(SYS_madvise, page, kPageSize, MADV_WIPEONFORK) != 0) return;
    process_of_memory = reinterpret_cast<std::uint32_t*>(page);
  }
  __atomic_store_n(process_of_memory, static_cast<std::uint32_t>(raw(SYS_getpid)), __ATOMIC_RELAXED);
}

// Not in a vfork child. One that is the first to come by, in a process that was forked past the handlers, is taken for
// that process until it has gone. No partner: threads that come here at once store the same.
bool is_own_memory() {
  if (process_of_memory == nullptr) return true;
  const auto process = static_cast<std::uint32_t>(raw(SYS_getpid));
  const std::uint32_t known = __atomic_load_n(process_of_memory, __ATOMIC_RELAXED);
  if (known == process) return true;
  constexpr long kNoSuchThread = -3;
  if (known != 0 && raw(SYS_tgkill, known, known, 0) != kNoSuchThread) return false;
  __atomic_store_n(process_of_memory, process, __ATOMIC_RELAXED);
  return true;
}

// A handler that was left by siglongjmp() from a signal handler leaves its mark: it is over if the stack is above it,
// or the stack's words are others by now. Stacks that are far apart tell nothing.
bool is_over(const Registers* inside, std::uint64_t stack) {
  constexpr std::int64_t kFarAbove = 1 << 20;
  constexpr std::int64_t kFarBelow = 256 << 10;
  const auto address = reinterpret_cast<std::uint64_t>(inside);
  const auto distance = static_cast<std::int64_t>(address - stack);
  if (distance <= 0) return distance > -kFarAbove;
  if (distance >= kFarBelow) return false;
  const std::uint64_t sp = inside->value[kRsp];
  return sp != address + kFrame && sp != address + kFrame + kRedZone;
}

// Whether the calling thread may run a handler now. Says so to signal handlers. Else that is missed of what is wanted.
bool begin(const Site* site, Registers* registers, std::uint32_t wants) {
  ThreadState& thread = state;
  if (thread.inside != nullptr) [[unlikely]] {
    if (thread.inside == kIgnored) return false;
    if (!is_over(thread.inside, reinterpret_cast<std::uint64_t>(registers))) {
      count_missed(site, wants);
      return false;
    }
  }
  thread.inside = registers;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);  // pairs with the load in a signal handler of this thread
  return true;
}
void end() {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);  // pairs with the load in a signal handler of this thread
  state.inside = nullptr;
}

// Against the thread's own signal handlers, not against other threads.
bool claim(Slot* slot, std::uint64_t stack) {
#if defined(__x86_64__)
  std::uint64_t expected = 0;
  bool done = false;
  asm volatile("cmpxchgq %[desired], %[word]"
               : [word] "+m"(slot->word), "+a"(expected), "=@cce"(done)
               : [desired] "r"(stack | kInUse)
               : "memory");
  return done;
#else
  (void)slot, (void)stack;
  return false;
#endif
}

// Reads a word of the own memory that may be gone. False: it is.
bool read_word(long process, std::uint64_t address, std::uint64_t& word, bool& allowed) {
  iovec here = {&word, sizeof word};
  iovec there = {reinterpret_cast<void*>(address), sizeof word};
  const long size = raw(SYS_process_vm_readv, process, raw_address(&here), 1, raw_address(&there), 1, 0);
  constexpr long kBadAddress = -14;
  allowed = size == sizeof word || size == kBadAddress;
  return size == sizeof word;
}

void give_back(const Site* site) { __atomic_fetch_sub(const_cast<std::uint32_t*>(&site->active), 1, __ATOMIC_RELAXED); }

// Whether the word of the stack by which the slot's call would return is another by now, or gone. A stack that was
// copied aside looks so, too.
bool seems_abandoned(long process, const Slot* slot, std::uint64_t word) {
  if (word == 0 || (word & kInUse) != 0) return false;
  std::uint64_t there = 0;
  bool allowed = true;
  if (read_word(process, word & kStackMask, there, allowed)) return there != stub_of(slot) + kAfterCall;
  return allowed;
}

// Frees the slot if its call seems abandoned. Pairs with the stores to the slot's word, which come after those to the
// stack where it is taken, and before them where it is left: so the thread that would have used the word cannot be
// between them when the exchange succeeds.
bool free_if_abandoned(long process, Slot* slot) {
  std::uint64_t word = __atomic_load_n(&slot->word, __ATOMIC_ACQUIRE);
  if (!seems_abandoned(process, slot, word)) return false;
  const Site* site = slot->site;
  // Pairs with the releases in take() and lt_agent_leave().
  if (!__atomic_compare_exchange_n(&slot->word, &word, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return false;
  if ((word & kCounted) != 0) give_back(site);
  return true;
}

// The same, but the call only counts no more against its limit: it keeps its slot, as it may come back.
bool uncount_if_abandoned(long process, Slot* slot) {
  // Pairs with the releases in take() and lt_agent_leave(), as the exchange does.
  std::uint64_t word = __atomic_load_n(&slot->word, __ATOMIC_ACQUIRE);
  if ((word & kCounted) == 0 || !seems_abandoned(process, slot, word)) return false;
  const Site* site = slot->site;
  if (!__atomic_compare_exchange_n(&slot->word, &word, word & ~kCounted, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
    return false;
  }
  give_back(site);
  return true;
}
using UseOfAbandoned = bool (*)(long process, Slot* slot);

Slot* first_of(std::uint32_t chunk) { return lt_agent_slots + std::size_t{chunk} * kSlotsInChunk; }

Slot* claim_in(std::uint32_t chunk, std::uint64_t stack) {
  Slot* const first = first_of(chunk);
  for (Slot* slot = first; slot != first + kSlotsInChunk; ++slot) {
    if (slot->word == 0 && claim(slot, stack)) return slot;
  }
  return nullptr;
}

Slot* claim_in_own(std::uint32_t thread, std::uint64_t stack) {
  for (std::uint32_t chunk = 0; chunk < kChunks; ++chunk) {
    if (owners[chunk] != thread) continue;
    if (Slot* slot = claim_in(chunk, stack); slot != nullptr) return slot;
  }
  return nullptr;
}

void note_use(std::uint32_t chunk) {
  std::uint32_t known = __atomic_load_n(&chunks_ever, __ATOMIC_RELAXED);
  while (known <= chunk &&
         !__atomic_compare_exchange_n(&chunks_ever, &known, chunk + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}
Slot* used_end() { return first_of(__atomic_load_n(&chunks_ever, __ATOMIC_RELAXED)); }

Slot* claim_in_new(std::uint32_t thread, std::uint64_t stack) {
  for (std::uint32_t chunk = 0; chunk < kChunks; ++chunk) {
    std::uint32_t nobody = 0;
    if (owners[chunk] != 0) continue;
    // Pairs with the release in forget_dead_threads().
    if (!__atomic_compare_exchange_n(&owners[chunk], &nobody, thread, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
      continue;
    __atomic_fetch_add(&owned_chunks, 1, __ATOMIC_RELAXED);
    ++state.owned;
    note_use(chunk);
    if (Slot* slot = claim_in(chunk, stack); slot != nullptr) return slot;
  }
  return nullptr;
}

// Where there is no new chunk: a free slot in any of the thread's own, unless that was in vain a short while ago.
Slot* claim_in_own_at_times(ThreadState& thread, std::uint64_t stack) {
  constexpr std::uint32_t kPause = 256;
  if (thread.dry != 0) {
    --thread.dry;
    return nullptr;
  }
  Slot* slot = claim_in_own(thread.thread, stack);
  if (slot == nullptr) thread.dry = kPause;
  return slot;
}

// The slot is free by now but for its word. When calls return that went deep, the chunks that they took are others'
// again.
void give_back_chunk(ThreadState& thread, const Slot* last) {
  const std::uint32_t chunk = chunk_of(last);
  Slot* const first = first_of(chunk);
  for (Slot* slot = first; slot != first + kSlotsInChunk; ++slot) {
    if (slot != last && slot->word != 0) return;
  }
  --thread.owned;
  thread.pause = thread.dry = 0;  // what was in vain in the depth is not now
  __atomic_fetch_sub(&owned_chunks, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&owners[chunk], 0, __ATOMIC_RELEASE);  // pairs with the exchange in claim_in_new()
  // A signal handler may have left another of its slots since the look.
  __atomic_signal_fence(__ATOMIC_SEQ_CST);  // pairs with lt_agent_leave() in a signal handler of this thread
  if (thread.next != nullptr && chunk_of(thread.next) == chunk) thread.next = nullptr;
}

std::uint32_t use_abandoned(UseOfAbandoned use) {
  const long process = raw(SYS_getpid);
  std::uint32_t count = 0;
  for (Slot* slot = lt_agent_slots; slot != used_end(); ++slot) count += use(process, slot) ? 1 : 0;
  return count;
}

std::uint32_t use_abandoned_of(std::uint32_t thread, UseOfAbandoned use) {
  const long process = raw(SYS_getpid);
  std::uint32_t count = 0;
  for (std::uint32_t chunk = 0; chunk < kChunks; ++chunk) {
    if (owners[chunk] != thread) continue;
    Slot* const first = first_of(chunk);
    for (Slot* slot = first; slot != first + kSlotsInChunk; ++slot) count += use(process, slot) ? 1 : 0;
  }
  return count;
}

// Looks for abandoned slots of the thread, unless that was in vain a short while ago.
bool use_abandoned_at_times(const ThreadState& thread, std::uint32_t& pause, UseOfAbandoned use) {
  constexpr std::uint32_t kPause = 4096;
  // A site's may be another thread's, too; one look more or less does not matter.
  const std::uint32_t left = __atomic_load_n(&pause, __ATOMIC_RELAXED);
  const bool found = left == 0 && thread.thread != 0 && !thread.is_silent && use_abandoned_of(thread.thread, use) != 0;
  if (!found) __atomic_store_n(&pause, left == 0 ? kPause : left - 1, __ATOMIC_RELAXED);
  return found;
}

// The chunk at hand, the one that the thread took after it, a new one. Abandoned slots, and free ones in its other
// chunks, are looked for only when there is no plenty of new ones: programs that copy stacks aside and back, as
// greenlets do, would not survive the former.
[[gnu::noinline]] Slot* claim_slowly(ThreadState& thread, std::uint64_t stack) {
  if (thread.thread == 0) {
    // A vfork child runs on its parent's state, in which its id must not stay.
    if (thread.is_silent || !is_own_memory()) return nullptr;
    thread.thread = static_cast<std::uint32_t>(raw(SYS_gettid));
  }
  const std::uint32_t chunk = thread.chunk;
  if (owners[chunk] == thread.thread) {
    if (Slot* slot = claim_in(chunk, stack); slot != nullptr) return slot;
    const std::uint32_t next = chunk_after[chunk];
    if (next != 0 && owners[next - 1] == thread.thread) {
      if (Slot* slot = claim_in(next - 1, stack); slot != nullptr) return slot;
    }
  }
  if (__atomic_load_n(&owned_chunks, __ATOMIC_RELAXED) >= kChunks / 2 &&
      use_abandoned_at_times(thread, thread.pause, free_if_abandoned)) {
    if (Slot* slot = claim_in_own(thread.thread, stack); slot != nullptr) return slot;
  }
  if (__atomic_load_n(&owned_chunks, __ATOMIC_RELAXED) == kChunks) return claim_in_own_at_times(thread, stack);
  Slot* slot = claim_in_new(thread.thread, stack);
  if (slot != nullptr && owners[chunk] == thread.thread) chunk_after[chunk] = chunk_of(slot) + 1;
  return slot;
}

bool within_limit(const Site* site) {
  auto* active = const_cast<std::uint32_t*>(&site->active);
  if (__atomic_add_fetch(active, 1, __ATOMIC_RELAXED) <= site->limit) return true;
  __atomic_fetch_sub(active, 1, __ATOMIC_RELAXED);
  return false;
}

// At the limit, calls that were abandoned do not count.
[[gnu::noinline]] bool is_refused(const Site* site) {
  if (within_limit(site)) return false;
  return !use_abandoned_at_times(state, const_cast<std::uint32_t&>(site->pause), uncount_if_abandoned) ||
         !within_limit(site);
}

// Of stubs that return to stubs, no two neighbours' frames seem to end at the same place.
std::uint64_t cfa_distance(std::uint64_t caller) {
  constexpr std::uint64_t kOutermost = 4;
  const CodeRange stubs = return_stubs();
  if (!stubs.holds(caller)) return kOutermost;
  const std::uint64_t next = lt_agent_slots[(caller - stubs.begin) / kReturnStubSize].cfa_distance;
  return next == 1 || next > kOutermost ? kOutermost - 1 : next - 1;
}

// A slot for the call, whose return address is replaced from here on.
Slot* take(const Site* site, std::uint64_t copy, std::uint64_t stack) {
  if ((stack & ~kStackMask) != 0) return nullptr;
  const std::uint64_t counted = site->limit != 0 ? kCounted : 0;
  if (counted != 0 && is_refused(site)) return nullptr;
  ThreadState& thread = state;
  Slot* slot = thread.next;
  if (slot == nullptr || !claim(slot, stack)) [[unlikely]] {
    slot = claim_slowly(thread, stack);
    if (slot == nullptr) {
      if (counted != 0) give_back(site);
      return nullptr;
    }
  }
  const auto number = static_cast<std::uint32_t>(slot - lt_agent_slots);
  thread.chunk = number / kSlotsInChunk;
  thread.next = (number + 1) % kSlotsInChunk == 0 ? nullptr : slot + 1;
  slot->target = copy;
  slot->site = site;
  slot->return_address = word_at(stack);
  slot->cfa_distance = cfa_distance(slot->return_address);
  word_at(stack) = stub_of(slot) + kAfterCall;
  // Pairs with the acquire in free_if_abandoned().
  __atomic_store_n(&slot->word, stack | counted | (++slot->serial << kSerialShift), __ATOMIC_RELEASE);
  return slot;
}

constexpr std::uint64_t kCallSize = 6;
constexpr std::uint64_t kJumpToNext = 4;

const Site* site_before(std::uint64_t resume, std::uint64_t code) {
  return reinterpret_cast<const Site*>(word_at(resume - code - 16));
}

// Of a call somewhere in a stub, by where it reads the common code's address: behind the site's.
const Site* site_of_call(std::uint64_t resume) {
  std::int32_t distance;
  __builtin_memcpy(&distance, reinterpret_cast<const void*>(resume - sizeof distance), sizeof distance);
  return reinterpret_cast<const Site*>(word_at(resume + static_cast<std::uint64_t>(std::int64_t{distance}) - 8));
}

bool need_not_wait(std::uint32_t changed, std::uint32_t seen) {
  return static_cast<std::int32_t>(seen - changed) >= 0 || __atomic_load_n(&seen_in_vain, __ATOMIC_RELAXED) == seen;
}

// Only where somebody may have to wait are there calls beyond those that wake the agent: a filter of system calls may
// not know them.
[[gnu::noinline]] void tell_loader_changes() {
  const std::uint32_t changed =
      __atomic_add_fetch(&changes.changed, 1, __ATOMIC_RELEASE);  // pairs with the agent's load
  raw(SYS_futex, raw_address(&changes.changed), FUTEX_WAKE_PRIVATE, 0x7fffffff);
  if (changes.wake != nullptr) {
    __atomic_fetch_add(changes.wake, 1, __ATOMIC_RELEASE);  // pairs with the load of whoever waits there
    raw(SYS_futex, raw_address(changes.wake), FUTEX_WAKE, 0x7fffffff);
  }
  const auto load_seen = [] { return __atomic_load_n(&changes.seen, __ATOMIC_ACQUIRE); };  // with loader_changes_seen()
  std::uint32_t seen = load_seen();
  if (need_not_wait(changed, seen)) return;
  timespec until = {};
  raw(SYS_clock_gettime, CLOCK_MONOTONIC, raw_address(&until));
  until.tv_nsec += changes.patience_ns;
  until.tv_sec += until.tv_nsec / kSecond;
  until.tv_nsec %= kSecond;
  constexpr long kInterrupted = -4;
  constexpr long kChanged = -11;
  for (;;) {
    const long result = raw(SYS_futex, raw_address(&changes.seen), FUTEX_WAIT_BITSET_PRIVATE, seen, raw_address(&until),
                            0, FUTEX_BITSET_MATCH_ANY);
    seen = load_seen();
    if (need_not_wait(changed, seen)) return;
    // The time is over, or the thread may not wait.
    const bool waits_on = result == 0 || result == kInterrupted || result == kChanged;
    if (!waits_on) return __atomic_store_n(&seen_in_vain, seen, __ATOMIC_RELAXED);
  }
}

void enter(const Site* site, Registers* registers, std::uint64_t stack, EntryData* data) {
  registers->value[kRsp] = stack;
  registers->value[kRip] = site->place();
  handlers.hit(site, registers, data);
}

}  // namespace

#if defined(__x86_64__)
extern "C" {

[[gnu::visibility("hidden"), gnu::used]] void lt_agent_enter(std::uint64_t resume, Registers* registers) {
  const Site* site = site_before(resume, kCallSize);
  const std::uint64_t stack = reinterpret_cast<std::uint64_t>(registers) + kFrame;
  if (site->wants == 0) return;
  if ((site->wants & kWantsLoader) != 0) {
    if (state.inside == nullptr) tell_loader_changes();
    return;
  }
  registers->value[kRsp] = stack;
  if (!begin(site, registers, kWantsEntry)) return;
  enter(site, registers, stack, nullptr);
  end();
}

[[gnu::visibility("hidden"), gnu::used]] std::uint64_t lt_agent_enter_and_return(std::uint64_t resume,
                                                                                 Registers* registers) {
  const Site* site = site_before(resume, kCallSize);
  const std::uint64_t copy = resume + kJumpToNext;
  const std::uint64_t stack = reinterpret_cast<std::uint64_t>(registers) + kFrame;
  if (site->wants == 0) return copy;
  registers->value[kRsp] = stack;
  if (!begin(site, registers, kWantsEntry | kWantsReturn)) return copy;
  Slot* slot = nullptr;
  if ((site->wants & kWantsReturn) != 0) {
    slot = take(site, copy, stack);
    if (slot == nullptr) count_missed(site, kWantsReturn);
  }
  enter(site, registers, stack, slot != nullptr ? &slot->data : nullptr);
  end();
  return slot != nullptr ? stub_of(slot) : copy;
}

[[gnu::visibility("hidden"), gnu::used]] void lt_agent_enter_middle(std::uint64_t resume, Registers* registers) {
  const Site* site = site_of_call(resume);
  const std::uint64_t stack = reinterpret_cast<std::uint64_t>(registers) + kFrame + kRedZone;
  if (site->wants == 0) return;
  registers->value[kRsp] = stack;
  if (!begin(site, registers, kWantsEntry)) return;
  enter(site, registers, stack, nullptr);
  end();
}

// `stub` is where the function returned to. The slot is freed by the caller, when it does not need it any more.
[[gnu::visibility("hidden"), gnu::used]] Slot* lt_agent_leave(std::uint64_t stub, Registers* registers) {
  Slot* slot = &lt_agent_slots[(stub - return_stubs().begin) / kReturnStubSize];
  const Site* site = slot->site;
  registers->value[kRsp] = reinterpret_cast<std::uint64_t>(registers) + kFrame;
  registers->value[kRip] = slot->return_address;
  if ((site->wants & kWantsReturn) != 0 && begin(site, registers, kWantsReturn)) {
    handlers.returned(site, registers, &slot->data);
    end();
  }
  // Both pair with the acquires of those who look for abandoned calls: the stack's word is overwritten only after this.
  // One of these may take the mark of a call that counts away at any moment.
  const std::uint64_t word = slot->word;
  if ((word & kCounted) == 0) {
    __atomic_store_n(&slot->word, word | kInUse, __ATOMIC_RELEASE);
  } else if ((__atomic_fetch_or(&slot->word, kInUse, __ATOMIC_ACQ_REL) & kCounted) != 0) {
    give_back(site);
  }
  ThreadState& thread = state;
  if (owners[chunk_of(slot)] == thread.thread) {
    thread.next = slot;
    const bool is_first = slot == first_of(chunk_of(slot));
    if (is_first && thread.owned > kKeptChunks) [[unlikely]]
      give_back_chunk(thread, slot);
  }
  return slot;
}

}  // extern "C"
#endif

void own_slots_after_fork() {
  find_process_of_memory();
  ThreadState& thread = state;
  const auto now = static_cast<std::uint32_t>(raw(SYS_gettid));
  for (std::uint32_t& owner : owners) {
    if (thread.thread != 0 && owner == thread.thread) __atomic_store_n(&owner, now, __ATOMIC_RELAXED);
  }
  if (thread.thread != 0) thread.thread = now;
}

void make_no_calls(bool none) { state.is_silent = none; }

void ignore_this_thread() { state.inside = kIgnored; }

Ignored::Ignored() : before_(state.inside) { state.inside = kIgnored; }
Ignored::~Ignored() { state.inside = before_; }

void set_handlers(const Handlers& to) {
  find_process_of_memory();
  handlers = to;
}

const std::uint64_t* registers_of_hit() {
  const Registers* const inside = state.inside;
  return inside == nullptr || inside == kIgnored ? nullptr : inside->value;
}

std::uint32_t free_abandoned_slots() { return use_abandoned(free_if_abandoned); }
std::uint32_t uncount_abandoned_slots() { return use_abandoned(uncount_if_abandoned); }

bool is_awaited(const Site* site) {
  for (const Slot* slot = lt_agent_slots; slot != used_end(); ++slot) {
    // Pairs with the release in take().
    if (__atomic_load_n(&slot->word, __ATOMIC_ACQUIRE) != 0 && slot->site == site) return true;
  }
  return false;
}

std::uint32_t slots_in_use() {
  std::uint32_t count = 0;
  for (const Slot* slot = lt_agent_slots; slot != used_end(); ++slot) {
    count += __atomic_load_n(&slot->word, __ATOMIC_RELAXED) != 0 ? 1 : 0;
  }
  return count;
}

void forget_dead_threads(std::uint32_t process) {
  constexpr long kNoSuchThread = -3;
  for (std::uint32_t& owner : owners) {
    const std::uint32_t thread = __atomic_load_n(&owner, __ATOMIC_RELAXED);
    if (thread == 0 || raw(SYS_tgkill, process, thread, 0) != kNoSuchThread) continue;
    __atomic_fetch_sub(&owned_chunks, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&owner, 0, __ATOMIC_RELEASE);  // pairs with the exchange in claim_in_new()
  }
}

LoaderChanges& loader_changes() { return changes; }

void loader_changes_seen(std::uint32_t changed) {
  __atomic_store_n(&changes.seen, changed, __ATOMIC_RELEASE);  // pairs with the load in tell_loader_changes()
  raw(SYS_futex, raw_address(&changes.seen), FUTEX_WAKE_PRIVATE, 0x7fffffff);
}

}  // namespace landtrace::agent
