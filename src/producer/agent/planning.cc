// What is to be written at each place: whether it may be probed, its stub, and its jump or the bytes that were there.
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "agent/agent.hpp"
#include "agent/jump.hpp"
#include "agent/raw.hpp"

namespace landtrace::agent {
namespace {

bool has_shadow_stack() {
#if defined(__x86_64__)
  constexpr long kStatus = 0x5005;  // ARCH_SHSTK_STATUS
  std::uint64_t features = 0;
  return raw(SYS_arch_prctl, kStatus, raw_address(&features)) == 0 && (features & 1) != 0;
#else
  return false;
#endif
}

Form form_of(const Recipe& recipe, std::uint32_t wants) {
  if ((recipe.flags & kAtEntry) == 0) return Form::kMiddle;
  return (wants & kWantsReturn) != 0 ? Form::kReturn : Form::kEntry;
}

}  // namespace

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

}  // namespace landtrace::agent
