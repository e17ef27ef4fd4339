// Input: a byte for the place of the header, 15 for registers, then .eh_frame_hdr,
// .eh_frame and the stack in one. Whatever they hold, a walk ends, and reads nothing but them.
#include <cstring>
#include <memory>

#include "unwind/walk.hpp"

namespace {

using namespace landtrace::unwind;

constexpr std::uint64_t kBase = 0x10000;
constexpr std::size_t kHead = 16;

struct Memory {
  const std::byte* data;
  std::size_t size;
  Object object;
};

bool read_word(void* self, std::uint64_t address, std::uint64_t& word) {
  const auto& memory = *static_cast<const Memory*>(self);
  if (address < kBase || address - kBase > memory.size || memory.size - (address - kBase) < sizeof word) return false;
  std::memcpy(&word, memory.data + (address - kBase), sizeof word);
  return true;
}

const Object* find_object(void* self, std::uint64_t address) {
  const auto& memory = *static_cast<const Memory*>(self);
  return memory.object.holds(address) ? &memory.object : nullptr;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < kHead) return 0;
  // A block of its own, so that ASan sees the first byte too many.
  const std::size_t rest = size - kHead;
  const auto block = std::make_unique<std::byte[]>(rest);
  std::memcpy(block.get(), data + kHead, rest);
  Memory memory{block.get(), rest, {}};
  memory.object.end = ~0ull;
  memory.object.tables.ranges[0] = {kBase, block.get(), rest};
  memory.object.tables.count = 1;
  memory.object.tables.header = kBase + data[0];
  Registers registers;
  for (unsigned i = 0; i < kRegisters; ++i) registers.set(i, kBase + data[1 + i % (kHead - 1)] * std::uint64_t{8});
  Walk walk(registers, {read_word, &memory}, {find_object, &memory}, Walk::Cache::kNone);
  for (unsigned frames = 0; frames < kMaxFrames; ++frames) {
    walk.look();
    if (!walk.go_on()) break;
  }
  return 0;
}
