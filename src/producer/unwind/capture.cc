#include "unwind/capture.hpp"

#include <algorithm>

#include "unwind/own_registers.hpp"
#include "unwind/stack_memory.hpp"
#include "unwind/walk.hpp"

namespace landtrace::unwind {
namespace {

// The tracer's own calls are never nested as deep.
constexpr std::uint32_t kMaxOwnFrames = 24;

bool is_entry(const Own& own, std::uint64_t function) {
  for (std::uint32_t i = 0; i < own.entry_count; ++i) {
    if (reinterpret_cast<std::uint64_t>(own.entries[i]) == function) return true;
  }
  return false;
}

// A place's registers by the numbers that tables have.
Registers registers_at(const std::uint64_t* place) {
  constexpr arch::Register kByDwarf[kRegisters] = {
      arch::kRax, arch::kRdx, arch::kRcx, arch::kRbx, arch::kRsi, arch::kRdi, arch::kRbp, arch::kRsp, arch::kR8,
      arch::kR9,  arch::kR10, arch::kR11, arch::kR12, arch::kR13, arch::kR14, arch::kR15, arch::kRip};
  Registers registers;
  for (unsigned i = 0; i < kRegisters; ++i) registers.set(i, place[kByDwarf[i]]);
  return registers;
}

const Object* find_local(void* self, std::uint64_t address) {
  auto* const object = static_cast<Object*>(self);
  return find_object(address, *object) ? object : nullptr;
}

}  // namespace

std::uint32_t capture(std::uint64_t* frames, std::uint32_t max, const Own& own, ObjectListener listener,
                      const CodeBetween& between) {
  Registers registers;
  LT_OWN_REGISTERS(registers);
  const std::uint64_t* const place = own.led_from == nullptr ? nullptr : own.led_from();
  if (place != nullptr) registers = registers_at(place);
  max = std::min(max, kMaxFrames);
  StackMemory memory(registers.sp());
  Object object;
  Walk walk(registers, memory.reader(), {find_local, &object}, Walk::Cache::kOwnObjects);
  const auto here = reinterpret_cast<std::uint64_t>(&capture);
  std::uint64_t own_object = 0;
  std::uint64_t told = 0;
  bool is_own = own.object && place == nullptr;
  std::uint32_t count = 0;
  for (std::uint32_t seen = 0; count < max; ++seen) {
    const Walk::Frame frame = walk.look();
    const std::uint64_t start = frame.object != nullptr ? frame.object->start : 0;
    if (seen == 0) own_object = start;
    is_own = is_own && start == own_object && start != 0;
    const bool is_near = seen < kMaxOwnFrames;
    if (place == nullptr &&
        (seen == 0 || (is_near && frame.function != 0 && (frame.function == here || is_entry(own, frame.function))))) {
      count = 0;
    } else if (!is_own && !between.holds(frame.pc)) {
      frames[count++] = frame.pc;
      if (start != 0 && start != told && listener.function != nullptr) {
        listener.function(listener.self, *frame.object);
        told = start;
      }
    }
    if (!walk.go_on()) break;
  }
  return count;
}

}  // namespace landtrace::unwind
