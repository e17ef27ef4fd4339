#include "verifier/state.hpp"

#include <fmt/format.h>

#include <map>

namespace landtrace::verifier {
namespace {

// Which id of the one state stands for which of the other.
class SameIds {
 public:
  explicit SameIds(std::uint64_t& steps) : steps_(steps) {}

  bool match(std::uint32_t seen, std::uint32_t next) {
    constexpr std::uint64_t kStepsToFind = 8;
    if (seen == 0) return true;
    if (next == 0) return false;
    steps_ += kStepsToFind;
    const auto [there, is_new] = ids_.emplace(seen, next);
    return is_new || there->second == next;
  }

 private:
  std::uint64_t& steps_;
  std::map<std::uint32_t, std::uint32_t> ids_;
};

class Comparison {
 public:
  Comparison(const State& seen, const State& next, const LiveRegisters& live, bool exactly, std::uint64_t& steps)
      : seen_(seen), next_(next), live_(live), exactly_(exactly), steps_(steps), ids_(steps) {}

  bool holds() {
    if (seen_.frames.size() != next_.frames.size() || seen_.references.size() != next_.references.size()) return false;
    for (std::size_t i = 0; i < seen_.references.size(); ++i) {
      if (!ids_.match(seen_.references[i].id, next_.references[i].id)) return false;
    }
    // The innermost first: it is the one that differs, if one does.
    for (std::size_t i = seen_.frames.size(); i-- > 0;) {
      if (!frame_covers(i)) return false;
    }
    return true;
  }

 private:
  bool frame_covers(std::size_t index) {
    steps_ += kRegisters;
    const Frame& seen = seen_.frames[index];
    const Frame& next = next_.frames[index];
    if (seen.return_to != next.return_to) return false;
    // A caller's registers are looked at when it goes on.
    const bool is_last = index + 1 == seen_.frames.size();
    const std::uint16_t live = live_[is_last ? seen_.pc : seen_.frames[index + 1].return_to];
    for (unsigned i = 0; i < kRegisters; ++i) {
      if ((live >> i & 1) != 0 && !register_covers(seen.registers[i], next.registers[i])) return false;
    }
    return stack_covers(seen, next);
  }

  bool stack_covers(const Frame& seen, const Frame& next) {
    static const Slot kEmpty;
    for (std::size_t i = 0; i < seen.slots.size(); ++i) {
      if (!slot_covers(seen.slots[i], i < next.slots.size() ? next.slots[i] : kEmpty)) return false;
    }
    return true;
  }

  bool slot_covers(const Slot& seen, const Slot& next) {
    ++steps_;
    if (seen.is_spilled) return next.is_spilled && register_covers(seen.spilled, next.spilled);
    for (unsigned i = 0; i < 8; ++i) {
      const Slot::Byte wanted = seen.bytes[i];
      if (wanted == Slot::kInvalid) continue;
      // What a spilled number has may be any bytes; a pointer's may not be read as such.
      if (next.is_spilled && (!next.spilled.is_scalar() || wanted == Slot::kZero)) return false;
      if (next.is_spilled) continue;
      if (next.bytes[i] == Slot::kInvalid || (wanted == Slot::kZero && next.bytes[i] != Slot::kZero)) return false;
    }
    return true;
  }

  bool register_covers(const Register& seen, const Register& next) {
    if (seen.kind == Kind::kNone) return true;
    if (seen.kind != next.kind) return false;
    if (exactly_ && !(seen.value == next.value)) return false;
    if (!seen.value.covers(next.value) || !ids_.match(seen.id, next.id)) return false;
    if (seen.is_scalar()) return true;
    return seen.offset == next.offset && seen.which == next.which && ids_.match(seen.reference, next.reference);
  }

  const State& seen_;
  const State& next_;
  const LiveRegisters& live_;
  bool exactly_;
  std::uint64_t& steps_;
  SameIds ids_;
};

}  // namespace

std::string Register::text() const {
  const std::string moved = value.is_constant() ? fmt::format("{:+}", offset + value.signed_least)
                                                : fmt::format("{:+}+{}", offset, value.text());
  const std::string at = moved == "+0" ? "" : moved;
  switch (kind) {
    case Kind::kNone:
      return "?";
    case Kind::kScalar:
      return value.text();
    case Kind::kContext:
      return "ctx" + at;
    case Kind::kStack:
      return fmt::format("fp{}", at.empty() ? "0" : at);
    case Kind::kMap:
      return fmt::format("map_ptr(map={})", which);
    case Kind::kMapValue:
      return fmt::format("map_value(map={}){}", which, at);
    case Kind::kMapValueOrNull:
      return fmt::format("map_value_or_null(id={},map={})", id, which);
    case Kind::kRecord:
      return fmt::format("mem(ref={},sz={}){}", reference, which, at);
    case Kind::kRecordOrNull:
      return fmt::format("mem_or_null(id={},sz={})", id, which);
  }
  return "?";
}

std::string State::text() const {
  std::string line;
  for (unsigned i = 0; i < kRegisters; ++i) {
    if (frame().registers[i].kind != Kind::kNone) line += fmt::format(" R{}={}", i, frame().registers[i].text());
  }
  for (std::size_t i = 0; i < frame().slots.size(); ++i) {
    const Slot& slot = frame().slots[i];
    if (slot.is_spilled) line += fmt::format(" fp-{}={}", 8 * (i + 1), slot.spilled.text());
  }
  return line.empty() ? line : line.substr(1);
}

std::size_t State::bytes() const {
  std::size_t bytes = sizeof *this + references.capacity() * sizeof(Reference) + frames.capacity() * sizeof(Frame);
  for (const Frame& one : frames) bytes += one.slots.capacity() * sizeof(Slot);
  return bytes;
}

bool covers(const State& seen, const State& next, const LiveRegisters& live, bool exactly, std::uint64_t& steps) {
  return Comparison(seen, next, live, exactly, steps).holds();
}

}  // namespace landtrace::verifier
