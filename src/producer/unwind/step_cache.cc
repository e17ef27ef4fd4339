#include "unwind/step_cache.hpp"

#include <cstring>
#include <iterator>

namespace landtrace::unwind {
namespace {

constexpr std::uint64_t kWord = 8;
constexpr std::uint64_t kMaxFrame = 1u << 24;
// The registers that a function must give back as it found them; 13 to 15 have no names here.
constexpr unsigned kSaved[] = {kRbx, kRbp, kR12, 13, 14, 15};
constexpr std::uint64_t kPlaces = 1024;

struct Place {
  std::uint64_t check;
  std::uint64_t place;
  std::uint64_t saved;
};
constinit Place places[kPlaces] = {};

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15;
  return hash ^ (hash >> 32);
}

std::uint64_t key_of(const Object& object, std::uint64_t pc) {
  std::uint64_t id = 0;
  std::memcpy(&id, object.build_id, sizeof id);
  return mix(mix(mix(mix(1, pc), object.start), object.tables.header), id);
}

std::uint64_t check_of(std::uint64_t key, std::uint64_t place, std::uint64_t saved) {
  return mix(mix(key, place), saved);
}

}  // namespace

bool FrameShape::take(const Rules& rules, std::uint64_t function_offset) {
  const Rule& cfa = rules.cfa;
  const Rule& pc = rules.registers[kRip];
  const bool is_plain = cfa.kind == RuleKind::kRegisterPlusValue && cfa.value < kMaxFrame &&
                        pc.kind == RuleKind::kAtOffset && pc.value == 0 - kWord && function_offset <= 0xffffffff;
  if (!is_plain) return false;
  saved_ = 0;
  std::uint32_t seen = 1u << kRip;
  for (unsigned i = 0; i < std::size(kSaved); ++i) {
    seen |= 1u << kSaved[i];
    const Rule& rule = rules.registers[kSaved[i]];
    if (rule.kind == RuleKind::kSame) continue;
    const std::uint64_t below = 0 - rule.value;
    if (rule.kind != RuleKind::kAtOffset || below % kWord != 0 || below / kWord - 1 > 0xfe) return false;
    saved_ |= (below / kWord) << (8 * i);
  }
  for (unsigned i = 0; i < kRegisters; ++i) {
    if ((seen >> i & 1) == 0 && rules.registers[i].kind != RuleKind::kSame) return false;
  }
  place_ = cfa.base | function_offset << 8 | cfa.value << 40;
  return true;
}

bool FrameShape::leave(WordReader read, Registers& registers) const {
  const auto base = static_cast<unsigned>(place_ & 0xff);
  if (!registers.has(base)) return false;
  const std::uint64_t cfa = registers.value[base] + (place_ >> 40);
  std::uint64_t pc = 0;
  if (cfa <= registers.sp() || !read(cfa - kWord, pc)) return false;
  std::uint32_t known = 0;
  for (unsigned i = 0; i < std::size(kSaved); ++i) {
    const unsigned number = kSaved[i];
    const std::uint64_t below = saved_ >> (8 * i) & 0xff;
    const bool is_known = below == 0 ? registers.has(number) : read(cfa - below * kWord, registers.value[number]);
    known |= is_known ? 1u << number : 0;
  }
  registers.known = known;
  registers.set(kRsp, cfa);
  registers.set(kRip, pc);
  return true;
}

bool FrameShape::find(const Object& object, std::uint64_t pc, FrameShape& shape) {
  const std::uint64_t key = key_of(object, pc);
  const Place& place = places[key % kPlaces];
  const std::uint64_t check = __atomic_load_n(&place.check, __ATOMIC_RELAXED);
  shape.place_ = __atomic_load_n(&place.place, __ATOMIC_RELAXED);
  shape.saved_ = __atomic_load_n(&place.saved, __ATOMIC_RELAXED);
  return check == check_of(key, shape.place_, shape.saved_);
}

void FrameShape::keep(const Object& object, std::uint64_t pc) const {
  const std::uint64_t key = key_of(object, pc);
  Place& place = places[key % kPlaces];
  __atomic_store_n(&place.check, check_of(key, place_, saved_), __ATOMIC_RELAXED);
  __atomic_store_n(&place.place, place_, __ATOMIC_RELAXED);
  __atomic_store_n(&place.saved, saved_, __ATOMIC_RELAXED);
}

}  // namespace landtrace::unwind
