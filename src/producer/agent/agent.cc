#include "agent/agent.hpp"

#include <elf.h>
#include <link.h>
#include <linux/membarrier.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <utility>

#include "agent/raw.hpp"
#include "agent/reference_counter.hpp"

namespace landtrace::agent {
namespace {

constexpr std::uint64_t kPageSize = 4096;
// Pages that are no farther apart are made writable together: two calls cost more than the pages between.
constexpr std::uint64_t kTogether = 256 << 10;
// Threads are stopped for no longer than this, and rather again, while the machine is too busy to let them come to
// their stop; from the third time on for twice as long each time, lest a place is never patched.
constexpr std::uint64_t kPatience = 4'000'000;  // ns
constexpr std::uint64_t kMostPatience = 128'000'000;
constexpr unsigned kTries = 10;
std::uint64_t patience_at(unsigned attempt) {
  return attempt < 2 ? kPatience : std::min(kPatience << (attempt - 1), kMostPatience);
}
constexpr std::uint64_t kGrace = 1'000'000'000;  // ns
constexpr std::uint32_t kPlenty = kSlots / 4;
constexpr std::uint32_t kLoaderNumber = 0xffffffff;

std::uint64_t monotonic_ns() {
  timespec time = {};
  raw(SYS_clock_gettime, CLOCK_MONOTONIC, raw_address(&time));
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

bool has_shadow_stack() {
#if defined(__x86_64__)
  constexpr long kStatus = 0x5005;  // ARCH_SHSTK_STATUS
  std::uint64_t features = 0;
  return raw(SYS_arch_prctl, kStatus, raw_address(&features)) == 0 && (features & 1) != 0;
#else
  return false;
#endif
}

bool crosses_words(std::uint64_t address, std::uint32_t size = kJumpSize) { return address % 8 + size > 8; }

std::uint32_t jump_size(const Recipe& recipe) { return recipe.spring != 0 ? kShortJumpSize : kJumpSize; }

void put_long_jump(std::uint64_t from, std::uint64_t to, std::uint8_t* bytes) {
  const auto distance = static_cast<std::int32_t>(to - (from + kJumpSize));
  bytes[0] = 0xe9;
  std::memcpy(bytes + 1, &distance, sizeof distance);
}

Form form_of(const Recipe& recipe, std::uint32_t wants) {
  if ((recipe.flags & kAtEntry) == 0) return Form::kMiddle;
  return (wants & kWantsReturn) != 0 ? Form::kReturn : Form::kEntry;
}

// Makes pages writable as long as it lives. They stay executable: threads run there.
class WritablePages {
 public:
  explicit WritablePages(const std::vector<Mapped>& maps) : maps_(maps) {}
  WritablePages(const WritablePages&) = delete;
  WritablePages& operator=(const WritablePages&) = delete;
  ~WritablePages() {
    for (const Run& run : runs_) raw(SYS_mprotect, run.begin, run.end - run.begin, run.protection);
  }
  // In the order of addresses.
  void add(std::uint64_t address) {
    add_page(address & ~(kPageSize - 1));
    add_page((address + kJumpSize - 1) & ~(kPageSize - 1));
  }
  void open() {
    std::erase_if(runs_, [](const Run& run) {
      return raw(SYS_mprotect, run.begin, run.end - run.begin, run.protection | PROT_WRITE) != 0;
    });
  }
  [[nodiscard]] bool holds(std::uint64_t address) const { return has(address) && has(address + kJumpSize - 1); }

 private:
  struct Run {
    std::uint64_t begin;
    std::uint64_t end;
    int protection;
    const Mapped* mapped;
  };
  void add_page(std::uint64_t begin) {
    const Mapped* mapped = find(maps_, begin);
    if (mapped == nullptr) return;
    const std::uint64_t end = begin + kPageSize;
    if (!runs_.empty() && runs_.back().mapped == mapped && begin < runs_.back().end + kTogether) {
      runs_.back().end = std::max(runs_.back().end, end);
    } else {
      runs_.push_back({begin, end, mapped->protection, mapped});
    }
  }
  [[nodiscard]] bool has(std::uint64_t address) const {
    return std::any_of(runs_.begin(), runs_.end(),
                       [address](const Run& run) { return address >= run.begin && address < run.end; });
  }
  const std::vector<Mapped>& maps_;
  std::vector<Run> runs_;
};

// The copy of a page is made before threads are stopped.
void touch_for_writing(std::uint64_t address) {
  __atomic_fetch_or(reinterpret_cast<std::uint8_t*>(address), 0, __ATOMIC_RELAXED);
  __atomic_fetch_or(reinterpret_cast<std::uint8_t*>(address + kJumpSize - 1), 0, __ATOMIC_RELAXED);
}

// While it is called, no object that is there is unmapped by the loader: dlclose() waits.
template <typename Function>
void with_loader_locked(Function function) {
  ::dl_iterate_phdr(
      [](dl_phdr_info*, std::size_t, void* call) {
        (*static_cast<Function*>(call))();
        return 1;
      },
      &function);
}

std::uint64_t loader_state() {
  std::uint64_t state = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t size, void* to) {
        if (size >= sizeof *info) *static_cast<std::uint64_t*>(to) = info->dlpi_adds + info->dlpi_subs;
        return 1;
      },
      &state);
  return state;
}

Reason reason_of(StopResult result) {
  switch (result) {
    case StopResult::kNotPermitted:
      return Reason::kNotPermitted;
    case StopResult::kTraced:
      return Reason::kTraced;
    case StopResult::kDone:
    case StopResult::kBusy:
      break;
  }
  return Reason::kBusy;
}

// The program's r_debug, by the address that the loader leaves in its dynamic section.
const r_debug* loader_debug() {
  const auto* headers = reinterpret_cast<const ElfW(Phdr)*>(::getauxval(AT_PHDR));
  const std::size_t count = ::getauxval(AT_PHNUM);
  if (headers == nullptr) return nullptr;
  std::uint64_t base = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (headers[i].p_type == PT_PHDR) base = reinterpret_cast<std::uint64_t>(headers) - headers[i].p_vaddr;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (headers[i].p_type != PT_DYNAMIC) continue;
    for (const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(base + headers[i].p_vaddr); entry->d_tag != DT_NULL;
         ++entry) {
      if (entry->d_tag == DT_DEBUG) return reinterpret_cast<const r_debug*>(entry->d_un.d_ptr);
    }
  }
  return nullptr;
}

// What stands behind the `ret` of an empty function up to the next: it is never run.
bool is_padding(const std::uint8_t* bytes) {
  static constexpr std::uint8_t kForms[][4] = {
      {0x66, 0x2e, 0x0f, 0x1f}, {0x66, 0x66, 0x2e, 0x0f}, {0x0f, 0x1f, 0x80, 0x00}, {0x0f, 0x1f, 0x84, 0x00},
      {0x0f, 0x1f, 0x44, 0x00}, {0x0f, 0x1f, 0x40, 0x00}, {0x66, 0x0f, 0x1f, 0x44}, {0x66, 0x0f, 0x1f, 0x84},
      {0x90, 0x90, 0x90, 0x90}, {0xcc, 0xcc, 0xcc, 0xcc}, {0x00, 0x00, 0x00, 0x00}};
  return std::any_of(std::begin(kForms), std::end(kForms),
                     [bytes](const std::uint8_t(&form)[4]) { return std::memcmp(bytes, form, sizeof form) == 0; });
}

// A function that does nothing, with or without a landing pad.
bool recipe_of_empty_function(const std::uint8_t* bytes, Recipe& recipe) {
  static constexpr std::uint8_t kPadAndReturn[] = {0xf3, 0x0f, 0x1e, 0xfa, 0xc3};
  const bool has_pad = std::memcmp(bytes, kPadAndReturn, sizeof kPadAndReturn) == 0;
  if (!has_pad && (bytes[0] != 0xc3 || !is_padding(bytes + 1))) return false;
  recipe = {};
  recipe.way = has_pad ? Way::kQuiet : Way::kOneStore;
  recipe.displaced = kJumpSize;
  recipe.flags = kAtEntry | kNeverComesBack;
  recipe.copy_size = 1;
  recipe.copy[0] = 0xc3;
  std::memcpy(recipe.expected, bytes, kJumpSize);
  return true;
}

}  // namespace

Agent::Agent(OwnObject own) {
  raw(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0);
  if (own == OwnObject::kLeaveAlone) keep_off(reinterpret_cast<const void*>(&set_handlers));
}

Agent::~Agent() {
  objects_.read();
  std::vector<Job> jobs;
  with_loader_locked([this] {
    for (const auto& place : places_) stop_counting(*place);
  });
  for (const auto& place : places_) plan_removal(*place, jobs);
  if (loader_ != nullptr) plan_removal(*loader_, jobs);
  write(jobs);
  // Threads may be on their way through stubs, and calls may come back: sites and stubs stay.
  for (auto& [address, known] : known_) {
    (void)known->site.release();
    for (Known::Inner& inner : known->inner) (void)inner.site.release();
  }
}

Agent::Place* Agent::find(std::uint32_t number) {
  for (const auto& place : places_) {
    if (place->number == number) return place.get();
  }
  return nullptr;
}
const Agent::Place* Agent::find(std::uint32_t number) const { return const_cast<Agent*>(this)->find(number); }

void Agent::apply(std::span<const Wanted> wanted, std::span<Outcome> outcomes) {
  std::map<std::uint32_t, Place*> by_number;
  for (const auto& place : places_) by_number[place->number] = place.get();
  for (const Wanted& one : wanted) {
    Place*& place = by_number[one.number];
    if (place == nullptr) {
      places_.push_back(std::make_unique<Place>());
      place = places_.back().get();
    }
    place->object = one.object;
    place->offset = one.offset;
    // What a patched place displaced stays what it was.
    if (place->patched.empty()) place->recipe = *one.recipe;
    place->number = one.number;
    place->wants = one.wants;
    place->limit = one.limit;
    place->counter = one.counter;
    place->reason = Reason::kNone;
  }
  // A place is there before those that its jump may serve, too.
  std::stable_sort(places_.begin(), places_.end(), [](const auto& a, const auto& b) { return a->offset < b->offset; });
  objects_.read();
  carry_out();
  for (std::size_t i = 0; i < wanted.size() && i < outcomes.size(); ++i) {
    outcomes[i] = outcome_of(*by_number[wanted[i].number]);
  }
}

Outcome Agent::outcome_of(const Place& place) const {
  Outcome outcome;
  outcome.reason = place.reason;
  outcome.addresses = static_cast<std::uint32_t>(place.patched.size());
  if (!place.patched.empty()) {
    outcome.state = PlaceState::kPatched;
    outcome.way = place.patched.back().way;
  } else if (place.reason != Reason::kNone) {
    outcome.state = PlaceState::kRefused;
  }
  return outcome;
}

Outcome Agent::outcome(std::uint32_t number) const {
  const Place* place = find(number);
  return place != nullptr ? outcome_of(*place) : Outcome{};
}

void Agent::see_patched(void (*see)(void* self, std::uint64_t address), void* self) const {
  for (const auto& place : places_) {
    for (const Patched& patched : place->patched) see(self, patched.known->address);
  }
}

std::uint64_t Agent::missed(std::uint32_t number) const {
  std::uint64_t missed = 0;
  const Place* place = find(number);
  if (place == nullptr) return 0;
  for (const Patched& patched : place->patched) missed += __atomic_load_n(&patched.site->missed, __ATOMIC_RELAXED);
  return missed;
}

void Agent::look_at_objects() {
  const std::uint32_t changed =
      __atomic_load_n(&loader_changes().changed, __ATOMIC_ACQUIRE);  // pairs with the loader's hit
  const std::uint64_t state = loader_state();
  if (state != loader_state_ || changed != loader_changes().seen) {
    loader_state_ = state;
    objects_.read();
    carry_out();
  }
  loader_changes_seen(changed);
}

void Agent::carry_out() {
  constexpr unsigned kRounds = 4;
  for (unsigned round = 0; round < kRounds; ++round) {
    std::vector<Job> jobs;
    std::vector<std::uint64_t> addresses;
    crowded_.clear();
    for (const auto& place : places_) {
      addresses.clear();
      objects_.find(place->object, place->offset, addresses);
      if (place->reason == Reason::kBusy) place->reason = Reason::kNone;
      forget_gone(*place, addresses);
      plan(*place, addresses, jobs);
    }
    write(jobs);
    settle(jobs);
    if (crowded_.empty() || !make_room()) break;
    objects_.read();
  }
  count_places();
}

// Where a place is listened to, its counter says so: one more for each, as kernels do.
void Agent::count_places() {
  const auto is_right = [](const Place& place) {
    return std::all_of(place.patched.begin(), place.patched.end(), [&](const Patched& patched) {
      return patched.counter == (place.counter == 0 ? 0 : patched.address + static_cast<std::uint64_t>(place.counter));
    });
  };
  if (std::all_of(places_.begin(), places_.end(), [&](const auto& place) { return is_right(*place); })) return;
  objects_.read();
  with_loader_locked([&] {
    for (const auto& place : places_) {
      if (is_right(*place)) continue;
      stop_counting(*place);
      for (Patched& patched : place->patched) {
        const std::uint64_t counter = patched.address + static_cast<std::uint64_t>(place->counter);
        if (place->counter != 0 && raise_counter(objects_.maps(), counter)) patched.counter = counter;
      }
    }
  });
}

void Agent::stop_counting(Place& place) {
  for (Patched& patched : place.patched) lower_counter(std::exchange(patched.counter, 0));
}

// Of one that is given up for a moment.
void Agent::leave_counting(Patched& patched) {
  with_loader_locked([&] { lower_counter(std::exchange(patched.counter, 0)); });
}

// An object that is gone, or was and is there again: then its bytes are the file's.
void Agent::forget_gone(Place& place, std::span<const std::uint64_t> addresses) {
  std::erase_if(place.patched, [&](const Patched& patched) {
    Known& known = *patched.known;
    const bool is_there = std::find(addresses.begin(), addresses.end(), patched.address) != addresses.end();
    std::uint8_t bytes[kJumpSize] = {};
    Job job = {&place, &known, {}, patched.way, true};
    set_jump(job);
    if (is_there && read_memory(known.address, bytes, job.size) && std::memcmp(bytes, job.bytes, job.size) == 0) {
      return false;
    }
    if (is_there) lower_counter(patched.counter);
    patched.site->wants = 0;
    if (!is_there) known.gone_since = monotonic_ns();
    if (!is_there && known.spring != 0) springs_.erase(known.spring);
    occupied_.erase(known.address);
    return true;
  });
}

bool Agent::overlaps(std::uint64_t address, std::uint64_t size) const {
  const auto spring = springs_.lower_bound(address < kJumpSize ? 0 : address - kJumpSize + 1);
  if (spring != springs_.end() && spring->first < address + size) return true;
  auto after = occupied_.lower_bound(address);
  if (after != occupied_.end() && after->first < address + size) return true;
  return after != occupied_.begin() && (--after)->first + after->second > address;
}

// Of a place that was dropped when the jump could not be taken out. What the jump displaced has to be what the recipe
// says: the bytes themselves cannot be compared any more.
bool Agent::has_our_jump(std::uint64_t address, const Recipe& recipe) const {
  const auto patched_there = [address](const Patched& patched) { return patched.known->address == address; };
  for (const auto& place : places_) {
    if (std::any_of(place->patched.begin(), place->patched.end(), patched_there)) return false;
  }
  std::uint8_t bytes[kJumpSize];
  const auto [begin, end] = known_.equal_range(address);
  return std::any_of(begin, end, [&](const auto& entry) {
    Job job = {nullptr, entry.second.get(), {}, Way::kOneStore, true};
    set_jump(job);
    return read_memory(address, bytes, job.size) && std::memcmp(bytes, job.bytes, job.size) == 0 &&
           std::memcmp(&entry.second->recipe, &recipe, sizeof recipe) == 0;
  });
}

Reason Agent::check(const Place& place, std::uint64_t address) const {
  const Recipe& recipe = place.recipe;
#if !defined(__x86_64__)
  return Reason::kNotThisMachine;
#endif
  const bool returns = (place.wants & kWantsReturn) != 0;
  if (recipe.way == Way::kRefused || recipe.displaced < jump_size(recipe) ||
      recipe.displaced > sizeof recipe.expected) {
    return Reason::kRecipe;
  }
  if (returns && (recipe.refusal != Refusal::kNone || (recipe.flags & kAtEntry) == 0)) return Reason::kRecipe;
  if (returns && has_shadow_stack()) return Reason::kShadowStack;
  const Mapped* mapped = agent::find(objects_.maps(), address);
  if (mapped == nullptr) return Reason::kBytesDiffer;
  // An object's text is several mappings once some of its pages have been written to.
  const auto own = [&](std::uint64_t kept) {
    const Mapped* other = agent::find(objects_.maps(), kept);
    return other != nullptr && (other == mapped || (!other->path.empty() && other->path == mapped->path));
  };
  if (std::any_of(kept_off_.begin(), kept_off_.end(), own)) return Reason::kOwnCode;
  if (overlaps(address, recipe.displaced)) return Reason::kOverlaps;
  std::uint8_t bytes[sizeof recipe.expected];
  if (!read_memory(address, bytes, recipe.displaced) || std::memcmp(bytes, recipe.expected, recipe.displaced) != 0) {
    return Reason::kBytesDiffer;
  }
  return recipe.spring == 0 ? Reason::kNone : check_spring(recipe, address);
}

Reason Agent::check_spring(const Recipe& recipe, std::uint64_t address) const {
  const std::uint64_t spring = address + static_cast<std::uint64_t>(std::int64_t{recipe.spring});
  const std::int64_t distance = recipe.spring - std::int64_t{kShortJumpSize};
  if (distance < INT8_MIN || distance > INT8_MAX || crosses_words(spring)) return Reason::kRecipe;
  const auto known = springs_.find(spring);
  if (known != springs_.end()) return known->second == address ? Reason::kNone : Reason::kOverlaps;
  if (overlaps(spring, kJumpSize)) return Reason::kOverlaps;
  std::uint8_t bytes[kJumpSize];
  const bool is_padding =
      read_memory(spring, bytes, sizeof bytes) && std::memcmp(bytes, recipe.padding, sizeof bytes) == 0;
  return is_padding ? Reason::kNone : Reason::kBytesDiffer;
}

Agent::Known* Agent::reusable(const StubShape& shape) {
  const auto [begin, end] = known_.equal_range(shape.address);
  for (auto it = begin; it != end; ++it) {
    Known& known = *it->second;
    if (known.form != shape.form || std::memcmp(&known.recipe, &shape.recipe, sizeof shape.recipe) != 0) continue;
    // Calls in progress come back to the site as they left it.
    if (known.site->number != shape.number && is_awaited(known.site.get())) continue;
    if (known.distances() == shape.inner) return &known;
  }
  return nullptr;
}

// `before`: to which the jump leads now; nullptr: to none.
Agent::Known* Agent::stub_for(const Place& place, std::uint64_t address, Reason& reason, const Known* before) {
  Known* known = make_stub({place.recipe, address, form_of(place.recipe, place.wants), place.number,
                            before == nullptr ? std::vector<std::uint32_t>() : before->distances()},
                           reason);
  if (known == nullptr) return nullptr;
  known->gone_since = 0;
  set_site(*known->site, place);
  if (before != nullptr) prepare(*before, *known);
  return known;
}

Agent::Known* Agent::make_stub(const StubShape& shape, Reason& reason) {
  const auto& [recipe, address, form, number, inner] = shape;
  Known* known = reusable(shape);
  if (known == nullptr) {
    auto made = std::make_unique<Known>();
    const auto new_site = [&shape](std::uint32_t lead) {
      auto site = std::make_unique<Site>();
      *site = {};
      site->address = shape.address;
      site->lead = lead;
      return site;
    };
    made->site = new_site(recipe.lead);
    std::vector<InnerHit> hits;
    for (const std::uint32_t distance : inner) {
      made->inner.push_back({distance, new_site(distance)});
      hits.push_back({made->inner.back().site.get(), distance});
    }
    Stub stub;
    const std::size_t room = kMaxStub;
    const NearMemory::Piece piece = memory_.take(address, room);
    if (piece.address == 0) {
      reason = Reason::kNoRoom;
      return nullptr;
    }
    if (!assemble(recipe, made->site.get(), form, piece.address, stub, hits)) {
      memory_.untake(room);
      reason = Reason::kOutOfReach;
      return nullptr;
    }
    memory_.untake(room - (stub.size + kStubAlignment - 1) / kStubAlignment * kStubAlignment);
    std::memcpy(piece.writable, stub.bytes, stub.size);
    made->address = address;
    made->recipe = recipe;
    made->form = form;
    made->code = piece.address + stub.code;
    for (std::size_t i = 0; i < kJumpSize; ++i) made->moved[i] = stub.moved[i] == 0 ? 0 : piece.address + stub.moved[i];
    made->spring = recipe.spring == 0 ? 0 : address + static_cast<std::uint64_t>(std::int64_t{recipe.spring});
    known = known_.emplace(address, std::move(made))->second.get();
  }
  return known;
}

void Agent::set_jump(Job& job) const {
  const Known& known = *job.known;
  job.size = jump_size(known.recipe);
  if (known.spring == 0) return put_long_jump(known.address, known.code, job.bytes);
  job.bytes[0] = 0xeb;
  job.bytes[1] = static_cast<std::uint8_t>(known.spring - (known.address + kShortJumpSize));
}

void Agent::plan(Place& place, std::span<const std::uint64_t> addresses, std::vector<Job>& jobs) {
  for (const std::uint64_t address : addresses) {
    const auto at = [address](const Patched& patched) { return patched.address == address; };
    const auto there = std::find_if(place.patched.begin(), place.patched.end(), at);
    Reason reason = Reason::kNone;
    bool has_jump = there != place.patched.end();
    if (has_jump) {
      Site& site = *there->site;
      const Form form = form_of(place.recipe, place.wants);
      if (there->known->form == form || (place.wants & kWantsReturn) == 0) {
        site.limit = place.limit;
        __atomic_store_n(&site.wants, place.wants, __ATOMIC_RELEASE);  // pairs with the hits
        continue;
      }
      // Returns are wanted now: the jump will go to another stub.
      if (place.recipe.refusal != Refusal::kNone) reason = Reason::kRecipe;
      if (has_shadow_stack()) reason = Reason::kShadowStack;
    } else if (occupied_.contains(address) && has_our_jump(address, place.recipe)) {
      has_jump = true;
      std::erase_if(left_, [address](const Known* known) { return known->address == address; });
    } else {
      reason = check(place, address);
    }
    const Known* const before = there == place.patched.end() ? nullptr : there->known;
    Known* known = reason == Reason::kNone ? stub_for(place, address, reason, before) : nullptr;
    if (known == nullptr) {
      place.reason = reason;
      if (reason == Reason::kOverlaps) crowded_.push_back({&place, address});
      continue;
    }
    Job job = {&place, known, {}, place.recipe.way, true};
    set_jump(job);
    // From a jump to a jump: a thread stands before it or is through.
    if (has_jump && !crosses_words(address, job.size)) job.way = Way::kOneStore;
    if (job.way == Way::kOneStore && crosses_words(address, job.size)) job.way = Way::kAlone;
    occupied_[address] = place.recipe.displaced;
    if (known->spring != 0) springs_[known->spring] = address;
    jobs.push_back(job);
  }
}

void Agent::plan_removal(Place& place, std::vector<Job>& jobs) {
  for (const Patched& patched : place.patched) {
    patched.site->wants = 0;
    if (!patched.known->is_wanted()) plan_removal(*patched.known, jobs);
  }
}

void Agent::plan_removal(Known& known, std::vector<Job>& jobs) {
  known.site->wants = 0;
  Job job = {nullptr, &known, {}, Way::kOneStore, false};
  set_jump(job);
  std::uint8_t bytes[kJumpSize];
  const Mapped* mapped = agent::find(objects_.maps(), known.address);
  const bool ours = mapped != nullptr && (mapped->protection & PROT_EXEC) != 0 &&
                    read_memory(known.address, bytes, job.size) && std::memcmp(bytes, job.bytes, job.size) == 0;
  if (!ours) {
    occupied_.erase(known.address);
    return;
  }
  // No thread stands within a jump.
  if (crosses_words(known.address, job.size)) job.way = Way::kAlone;
  std::memcpy(job.bytes, known.recipe.expected, job.size);
  jobs.push_back(job);
}

void Agent::try_left_again() {
  if (left_.empty()) return;
  objects_.read();
  std::vector<Job> jobs;
  for (Known* known : left_) plan_removal(*known, jobs);
  left_.clear();
  write(jobs);
  settle(jobs);
}

void Agent::drop(std::span<const std::uint32_t> numbers) {
  objects_.read();
  std::vector<Job> jobs;
  std::vector<std::unique_ptr<Place>> dropped;
  for (auto& place : places_) {
    if (std::find(numbers.begin(), numbers.end(), place->number) == numbers.end()) continue;
    with_loader_locked([&] { stop_counting(*place); });
    plan_removal(*place, jobs);
    dropped.push_back(std::move(place));
  }
  std::erase(places_, nullptr);
  write(jobs);
  settle(jobs);
}

void Agent::settle(std::vector<Job>& jobs) {
  for (Job& job : jobs) {
    const std::uint64_t address = job.known->address;
    if (!job.is_jump) {
      if (job.done) {
        occupied_.erase(address);
      } else {
        left_.push_back(job.known);
      }
      continue;
    }
    auto& patched = job.place->patched;
    const auto at = [address](const Patched& one) { return one.address == address; };
    const auto there = std::find_if(patched.begin(), patched.end(), at);
    if (!job.done) {
      job.known->site->wants = 0;
      job.place->reason = job.reason;
      if (there != patched.end()) continue;
      if (has_our_jump(address, job.place->recipe)) {
        leave_for_later(address);
      } else {
        occupied_.erase(address);
      }
    } else if (there != patched.end()) {
      move_places(*there->known, *job.known);
    } else {
      patched.push_back({job.known, job.way, address, job.known->site.get()});
    }
  }
}

void Agent::write(std::vector<Job>& jobs) {
  if (jobs.empty()) return;
  std::sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) { return a.known->address < b.known->address; });
  with_loader_locked([&] { write_locked(jobs); });
}

void Agent::write_locked(std::vector<Job>& jobs) {
  WritablePages pages(objects_.maps());
  std::vector<std::uint64_t> written;
  for (const Job& job : jobs) {
    written.push_back(job.known->address);
    if (job.is_jump && job.known->spring != 0) written.push_back(job.known->spring);
  }
  std::sort(written.begin(), written.end());
  for (const std::uint64_t address : written) pages.add(address);
  pages.open();
  std::vector<Job*> others;
  const bool alone = is_alone();
  for (Job& job : jobs) {
    const std::uint64_t address = job.known->address;
    std::uint8_t now[sizeof job.known->recipe.expected];
    // As it was when it was planned: the object may be another since.
    const bool is_file = pages.holds(address) && read_memory(address, now, job.known->recipe.displaced) &&
                         (now[0] == 0xe9 || (now[0] == 0xeb && job.size == kShortJumpSize) ||
                          std::memcmp(now, job.known->recipe.expected, job.known->recipe.displaced) == 0);
    const std::uint64_t spring = job.is_jump ? job.known->spring : 0;
    if (spring != 0 && is_file && pages.holds(spring)) {
      // First, as then there is where to go.
      std::uint8_t jump[kJumpSize];
      put_long_jump(spring, job.known->code, jump);
      store(spring, jump, sizeof jump);
    }
    if (!is_file || (spring != 0 && !pages.holds(spring))) {
      job.reason = pages.holds(address) ? Reason::kBytesDiffer : Reason::kProtected;
    } else if (alone || job.way == Way::kOneStore) {
      store(address, job.bytes, job.size);
      job.done = true;
    } else {
      touch_for_writing(address);
      others.push_back(&job);
    }
  }
  synchronize_code();
  if (!others.empty()) write_stopped(others);
}

void Agent::write_stopped(std::vector<Job*>& jobs) {
  for (unsigned i = 0; i < kTries && !jobs.empty(); ++i) {
    if (i != 0) {
      const timespec pause = {0, 1'000'000};
      raw(SYS_nanosleep, raw_address(&pause), 0);
    }
    std::vector<Patch> patches;
    for (const Job* job : jobs) {
      Patch patch = {job->known->address, {}, job->size, {}};
      std::memcpy(patch.bytes, job->bytes, job->size);
      std::memcpy(patch.moved, job->known->moved, sizeof patch.moved);
      patches.push_back(patch);
    }
    const StopReport report = write_with_others_stopped(patches, objects_.maps(), patience_at(i));
    counters_.stops += 1;
    counters_.threads_stopped += report.threads;
    counters_.longest_stop_ns = std::max(counters_.longest_stop_ns, report.stopped_ns);
    std::vector<Job*> left;
    for (std::size_t k = 0; k < jobs.size(); ++k) {
      jobs[k]->done = patches[k].written;
      jobs[k]->reason = reason_of(report.result);
      if (!patches[k].written) left.push_back(jobs[k]);
    }
    jobs = std::move(left);
    if (report.result == StopResult::kNotPermitted || report.result == StopResult::kTraced) return;
  }
}

bool Agent::listen_to_loader() {
  if (loader_ != nullptr) return true;
  const r_debug* debug = loader_debug();
  if (debug == nullptr || debug->r_brk == 0) return false;
  auto place = std::make_unique<Place>();
  std::uint8_t bytes[kJumpSize];
  if (!read_memory(debug->r_brk, bytes, sizeof bytes) || !recipe_of_empty_function(bytes, place->recipe)) return false;
  place->number = kLoaderNumber;
  place->wants = kWantsLoader;
  place->offset = 0;
  place->limit = 0;
  objects_.read();
  const std::uint64_t address[] = {debug->r_brk};
  std::vector<Job> jobs;
  plan(*place, address, jobs);
  write(jobs);
  settle(jobs);
  if (place->patched.empty()) return false;
  loader_ = std::move(place);
  return true;
}

void Agent::leave_for_later(std::uint64_t address) {
  std::uint8_t bytes[kJumpSize] = {};
  read_memory(address, bytes, sizeof bytes);
  const auto [begin, end] = known_.equal_range(address);
  for (auto it = begin; it != end; ++it) {
    Job job = {nullptr, it->second.get(), {}, Way::kAlone, true};
    set_jump(job);
    if (std::memcmp(bytes, job.bytes, sizeof bytes) == 0) left_.push_back(it->second.get());
  }
}

void Agent::tend() {
  try_left_again();
  // Where threads could not be stopped in time, they can another time.
  if (std::any_of(places_.begin(), places_.end(), [](const auto& place) { return place->reason == Reason::kBusy; })) {
    objects_.read();
    carry_out();
  }
  forget_dead_threads(static_cast<std::uint32_t>(::getpid()));
  const auto at_limit = [](const auto& entry) {
    const Site& site = *entry.second->site;
    return site.limit != 0 && __atomic_load_n(&site.active, __ATOMIC_RELAXED) >= site.limit;
  };
  if (slots_in_use() > kPlenty || std::any_of(known_.begin(), known_.end(), at_limit)) free_abandoned_slots();
  const std::uint64_t now = monotonic_ns();
  const std::size_t count = known_.size();
  std::erase_if(known_, [now](const auto& entry) {
    const Known& known = *entry.second;
    return known.gone_since != 0 && now - known.gone_since > kGrace && !is_awaited(known.site.get());
  });
  if (known_.size() == count) return;
  std::vector<std::uint64_t> used;
  for (const auto& [address, known] : known_) used.push_back(known->code);
  memory_.keep_only(used);
}

void Agent::after_fork() {
  own_slots_after_fork();
  memory_.leave_as_it_is();
}

void Agent::keep_off(const void* address) { kept_off_.push_back(reinterpret_cast<std::uint64_t>(address)); }

AgentCounters Agent::counters() const {
  AgentCounters counters = counters_;
  counters.stub_memory = memory_.size();
  return counters;
}

const char* text_of(Reason reason) {
  switch (reason) {
    case Reason::kNone:
      return "";
    case Reason::kNotThisMachine:
      return "probes are not there on this machine yet";
    case Reason::kRecipe:
      return "the code cannot be probed there";
    case Reason::kBytesDiffer:
      return "the program's code differs from the file's";
    case Reason::kNoRoom:
      return "no executable memory within reach";
    case Reason::kOutOfReach:
      return "what the code refers to is too far from where it would be moved";
    case Reason::kProtected:
      return "the system does not let the code be changed";
    case Reason::kOwnCode:
      return "the code is the tracer's own";
    case Reason::kOverlaps:
      return "too close to another probe";
    case Reason::kShadowStack:
      return "returns cannot be probed with shadow stacks";
    case Reason::kNotPermitted:
      return "the system does not let the program's threads be looked at";
    case Reason::kTraced:
      return "a debugger has the program";
    case Reason::kBusy:
      return "its threads were in the middle of the code each time";
  }
  return "";
}

}  // namespace landtrace::agent
