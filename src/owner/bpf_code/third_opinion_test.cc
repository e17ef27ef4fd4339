// What DPDK's librte_bpf makes of programs that it takes and the verifier takes, too: its interpreter and its code are
// written by others, who read the same standard. It is no part of the build: where the shared object is installed
// (Debian: librte-bpf23), it is asked.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "bpf_code/test_twins.hpp"
#include "verifier/test_programs.hpp"

namespace landtrace::bpf_code {
namespace {

using namespace bpf::code;
using bpf::Instruction;

// Its ABI, version 23, as far as it is used here.
struct Argument {
  enum Type : std::uint32_t { kPointer = 0x10 };
  Type type;
  std::size_t size;         // of what it points to
  std::size_t buffer_size;  // of packets alone
};
struct Wish {
  const Instruction* instructions;
  std::uint32_t instruction_count;
  const void* symbols;
  std::uint32_t symbol_count;
  Argument argument;
};
struct MachineCode {
  std::uint64_t (*run)(void*);
  std::size_t size;
};
struct Handle;

class Library {
 public:
  static const Library* find() {
    static const Library library;
    return library.is_whole_ ? &library : nullptr;
  }

  Handle* (*load)(const Wish*);
  void (*destroy)(Handle*);
  std::uint64_t (*execute)(const Handle*, void*);
  int (*code_of)(const Handle*, MachineCode*);

 private:
  Library() {
    void* const object = ::dlopen("librte_bpf.so.23", RTLD_NOW);
    if (object == nullptr) return;
    const auto set = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(object, name));
      is_whole_ = is_whole_ && function != nullptr;
    };
    is_whole_ = true;
    set(load, "rte_bpf_load");
    set(destroy, "rte_bpf_destroy");
    set(execute, "rte_bpf_exec");
    set(code_of, "rte_bpf_get_jit");
    // It tells of each program that it refuses.
    void (*set_level)(std::uint32_t) = nullptr;
    set(set_level, "rte_log_set_global_level");
    if (is_whole_) set_level(1);
  }

  bool is_whole_ = false;
};

// An event with its common fields.
using Entry = std::array<char, 64>;

// Programs as they are taken by both: numbers, a stack and the event, jumps that lead on. Four things are left out, of
// which librte_bpf 22.11 makes something else than the standard and the kernel: a division by a register that is zero
// ends its programs; its interpreter keeps all 64 bits of `r1 = le16 r1`; its code has a wrong `if r1 & 5`, and a wrong
// `r1 <<= r1`.
class PlainProgram {
 public:
  explicit PlainProgram(std::uint64_t seed) : random_(seed) {}

  Code write() {
    code_ = {copy(6, 1)};
    for (const int reg : {0, 2, 3, 4, 5, 7, 8, 9}) code_ = code_ + constant(reg, number());
    for (int slot = 1; slot <= 4; ++slot) code_.push_back(store(BPF_DW, 10, -8 * slot, 7 + below(3)));
    const std::size_t begin = code_.size();
    for (int left = 4 + below(24); left > 0; --left) code_.push_back(instruction());
    const std::size_t end = code_.size();
    for (std::size_t at = begin; at < end; ++at) {
      Instruction& one = code_[at];
      if (BPF_CLASS(one.code) != BPF_JMP) continue;
      one.off = static_cast<std::int16_t>(std::min<std::size_t>(static_cast<std::size_t>(one.off), end - at - 1));
    }
    for (const int reg : {2, 3, 4, 5, 7, 8, 9}) {
      code_.push_back(alu(BPF_MUL, 0, 31));
      code_.push_back(alu_r(BPF_ADD, 0, reg));
    }
    code_.push_back(leave());
    return code_;
  }
  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  char byte() { return static_cast<char>(random_()); }

 private:
  std::uint64_t number() {
    constexpr std::uint64_t kEdges[] = {0, 1, 2, 31, 32, 63, 64, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000};
    return below(2) == 0 ? kEdges[below(11)] * (below(2) == 0 ? 1 : ~0ull) : random_();
  }
  int any_number() { return std::array{0, 2, 3, 4, 5, 7, 8, 9}[static_cast<std::size_t>(below(8))]; }

  int comparison() {
    const int one = verifier::kComparisons[below(11)];
    return one == BPF_JSET ? BPF_JNE : one;
  }
  Instruction calculation(int dst, int src) {
    const int operation = verifier::kCalculations[below(11)];
    const bool divides = operation == BPF_DIV || operation == BPF_MOD;
    const bool shifts = operation == BPF_LSH || operation == BPF_RSH || operation == BPF_ARSH;
    const bool is_64 = below(2) == 0;
    int by = static_cast<int>(number());
    if (shifts) by &= is_64 ? 63 : 31;
    if (divides && by == 0) by = 7;
    const bool is_left_out = divides || (shifts && dst == src);
    if (!is_left_out && below(2) == 0) return is_64 ? alu_r(operation, dst, src) : alu32_r(operation, dst, src);
    return is_64 ? alu(operation, dst, by) : alu32(operation, dst, by);
  }
  Instruction instruction() {
    const int dst = any_number(), src = any_number(), size = below(4);
    const int slot = -((below(32 >> size) + 1) << size);
    switch (below(9)) {
      case 0:
        return load(verifier::kSizes[size], dst, 6, 8 + (below(48 >> size) << size));
      case 1:
        return load(verifier::kSizes[size], dst, 10, slot);
      case 2:
        return store(verifier::kSizes[size], 10, slot, src);
      case 3:
        return put(verifier::kSizes[size], 10, slot, static_cast<int>(number()));
      case 4:
        return jump(comparison(), dst, static_cast<int>(number()), below(5));
      case 5:
        return jump_r(verifier::kComparisons[below(11)], dst, src, below(5));
      case 6:
        if (below(2) == 0) return make((below(2) == 0 ? BPF_ALU : BPF_ALU64) | BPF_NEG, dst, 0, 0, 0);
        return make(BPF_ALU | BPF_END | BPF_TO_BE, dst, 0, 0, 16 << below(3));
      default:
        return calculation(dst, src);
    }
  }

  std::mt19937_64 random_;
  Code code_;
};

// Its answer by its interpreter and by its code; nothing where it does not take the program.
std::optional<std::array<std::uint64_t, 2>> its_answers(const Library& library, const Code& code, Entry& entry) {
  const Wish wish{code.data(), static_cast<std::uint32_t>(code.size()), nullptr, 0,
                  {Argument::kPointer, entry.size(), 0}};
  Handle* const handle = library.load(&wish);
  if (handle == nullptr) return std::nullopt;
  MachineCode made{};
  EXPECT_EQ(library.code_of(handle, &made), 0);
  const std::uint64_t interpreted = library.execute(handle, entry.data());
  const std::uint64_t compiled = made.run == nullptr ? 0 : made.run(entry.data());
  library.destroy(handle);
  return std::array{interpreted, compiled};
}

TEST(BpfThirdOpinion, OthersCalculateTheSame) {
  const Library* const library = Library::find();
  if (library == nullptr) GTEST_SKIP() << "librte_bpf.so.23 is not installed (Debian: librte-bpf23)";
  PlainProgram writer(17);
  Twins twins;
  int taken = 0;
  for (int i = 0; i < 20'000; ++i) {
    const Code code = writer.write();
    if (!verifier::verdict_of(code).accepted) continue;
    Entry entry{};
    for (std::size_t at = 8; at < entry.size(); ++at) entry[at] = writer.byte();
    const auto theirs = its_answers(*library, code, entry);
    if (!theirs) continue;
    ++taken;
    ASSERT_TRUE(twins.take(code, 1));
    const std::string_view payload(entry.data() + 8, entry.size() - 8);
    ASSERT_EQ(twins.difference(payload), "") << verifier::text_of(code);
    const std::uint64_t ours = twins.run(payload);
    ASSERT_EQ(ours, theirs->front()) << "its interpreter\n" << verifier::text_of(code);
    ASSERT_EQ(ours, theirs->back()) << "its code\n" << verifier::text_of(code);
  }
  EXPECT_GT(taken, 10'000);
}

}  // namespace
}  // namespace landtrace::bpf_code
