// This program's own tables and a stack of it, changed at random: a walk ends, and reads nothing but what it is given.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "unwind/own_registers.hpp"
#include "unwind/walk.hpp"

namespace landtrace::unwind {
namespace {

struct Copy {
  Object object;
  std::vector<std::unique_ptr<std::byte[]>> blocks;
  std::vector<std::uint64_t> stack;
  std::uint64_t stack_address = 0;
};

bool read_word(void* self, std::uint64_t address, std::uint64_t& word) {
  const auto& copy = *static_cast<const Copy*>(self);
  const std::uint64_t offset = address - copy.stack_address;
  const std::uint64_t size = copy.stack.size() * sizeof word;
  if (offset > size - sizeof word) return false;
  std::memcpy(&word, reinterpret_cast<const char*>(copy.stack.data()) + offset, sizeof word);
  return true;
}

const Object* find_copy(void* self, std::uint64_t address) {
  const auto& copy = *static_cast<const Copy*>(self);
  return copy.object.holds(address) ? &copy.object : nullptr;
}

std::uint32_t walk_through(const Registers& registers, Copy& copy) {
  Walk walk(registers, {read_word, &copy}, {find_copy, &copy}, Walk::Cache::kNone);
  for (std::uint32_t frames = 1; frames < kMaxFrames; ++frames) {
    walk.look();
    if (!walk.go_on()) return frames;
  }
  return kMaxFrames;
}

// The registers and the stack of this function, and the tables of this program, in blocks of their own.
// Past the address sanitizer, to which the space between variables is not to be read.
void copy_memory(void* to, const void* from, std::size_t size) {
  const int memory = ::open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(::pread(memory, to, size, reinterpret_cast<off_t>(from)), static_cast<ssize_t>(size));
  ::close(memory);
}

[[gnu::noinline]] Registers copy_own(Copy& copy) {
  Registers registers;
  LT_OWN_REGISTERS(registers);
  EXPECT_TRUE(find_object(registers.pc(), copy.object));
  for (unsigned i = 0; i < copy.object.tables.count; ++i) {
    ByteRange& range = copy.object.tables.ranges[i];
    copy.blocks.push_back(std::make_unique<std::byte[]>(range.size));
    copy_memory(copy.blocks.back().get(), range.data, range.size);
    range.data = copy.blocks.back().get();
  }
  copy.stack_address = registers.sp();
  copy.stack.resize(256);
  copy_memory(copy.stack.data(), reinterpret_cast<const void*>(copy.stack_address), 256 * sizeof copy.stack[0]);
  return registers;
}

std::byte* byte_at(Copy& copy, std::uint64_t address) {
  const ByteRange* const range = copy.object.tables.range_of(address);
  return range == nullptr ? nullptr : const_cast<std::byte*>(range->data) + (address - range->address);
}

TEST(DamageTest, TheUndamagedCopyIsWalkedThrough) {
  Copy copy;
  const Registers registers = copy_own(copy);
  EXPECT_GT(walk_through(registers, copy), 3u);
}

TEST(DamageTest, ChangedTables) {
  Copy copy;
  const Registers registers = copy_own(copy);
  Fde fde;
  ASSERT_TRUE(find_fde(copy.object.tables, registers.pc(), fde));
  std::mt19937 random(1);
  for (int round = 0; round < 200'000; ++round) {
    // The entry in use and the one that it refers to, or the header and the rows of its index.
    const std::uint64_t places[] = {fde.instructions.address(), fde.initial.address(), copy.object.tables.header};
    const std::uint64_t place = places[random() % 3] + random() % 64 - 24;
    std::byte* const byte = byte_at(copy, place);
    if (byte == nullptr) continue;
    const std::byte before = *byte;
    *byte = static_cast<std::byte>(random());
    EXPECT_LE(walk_through(registers, copy), kMaxFrames);
    *byte = before;
  }
}

TEST(DamageTest, ChangedRegistersAndStack) {
  Copy copy;
  const Registers registers = copy_own(copy);
  const std::vector<std::uint64_t> stack = copy.stack;
  std::mt19937_64 random(1);
  for (int round = 0; round < 20'000; ++round) {
    Registers changed = registers;
    changed.value[random() % kRegisters] = random() % 2 == 0 ? random() : copy.stack_address + random() % 2048;
    for (int i = 0; i < 8; ++i) {
      const std::uint64_t kinds[] = {random(), copy.stack_address + random() % 2048, registers.pc() + random() % 4096};
      copy.stack[random() % 64] = kinds[random() % 3];
    }
    EXPECT_LE(walk_through(changed, copy), kMaxFrames);
    copy.stack = stack;
  }
}

}  // namespace
}  // namespace landtrace::unwind
