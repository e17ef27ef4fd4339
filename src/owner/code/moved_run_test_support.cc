#include "code/moved_run_test_support.hpp"

#include <cpuid.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "code/relocation.hpp"

namespace landtrace::code::test {
namespace {

constexpr std::size_t kPages = 0x2000;
constexpr std::size_t kDataSize = 0xa000;  // pointers among them
constexpr std::size_t kMaxDifferences = 20;
// The trap flag is the harness's, the resume flag the processor's.
constexpr std::uint64_t kComparedFlags = 0x0cd5 | 0x400;

constexpr int kRegisterIndex[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

constexpr std::size_t kMaxState = 8192;  // of vector registers, as signal frames have it
struct State {
  int signal = 0;
  std::uint64_t ip = 0;
  std::uint64_t registers[16]{};
  std::uint64_t flags = 0;
  std::uint8_t vectors[kMaxState]{};
};

// What the handlers share with run().
struct Harness {
  const Case* todo = nullptr;
  std::uint64_t begin = 0;
  State* out = nullptr;
  gregset_t home{};
  std::uint8_t home_vectors[kMaxState]{};
};
Harness harness;

std::uint8_t* as_bytes(std::uint64_t address) {
  return reinterpret_cast<std::uint8_t*>(address);  // NOLINT(performance-no-int-to-ptr)
}

// The frame's vector registers: 512 bytes of FXSAVE, and what XSAVE has behind them.
std::size_t vectors_size(const ucontext_t& context) {
  std::uint32_t magic = 0, size = 0;
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(context.uc_mcontext.fpregs);
  std::memcpy(&magic, bytes + 464, 4);
  std::memcpy(&size, bytes + 464 + 16, 4);
  constexpr std::uint32_t kExtended = 0x46505853;
  return magic == kExtended ? std::min<std::size_t>(size, kMaxState) : 512;
}

// Where XSAVE has a part of the vector registers: ymm's upper halves, and what AVX-512 added. Asked once, before any
// run.
constexpr unsigned kComponents[] = {2, 5, 6, 7};
struct Component {
  std::size_t at = 0;
  std::size_t size = 0;
};
Component components[8];

void find_components() {
  for (const unsigned component : kComponents) {
    unsigned size = 0, at = 0, c = 0, d = 0;
    if (__get_cpuid_count(0xd, component, &size, &at, &c, &d) != 0 && at + size <= kMaxState)
      components[component] = {at, size};
  }
}

// The same contents for each run, none of which is what a processor begins with.
void fill_vectors(std::uint8_t* vectors, std::size_t size) {
  for (std::size_t at = 160; at < 416; ++at) vectors[at] = static_cast<std::uint8_t>(at * 7);
  std::memset(vectors, 0, 32);
  std::memset(vectors + 32, 0, 128);
  vectors[0] = 0x7f;  // x87's control word, with all exceptions masked; one register in use
  vectors[1] = 0x03;
  vectors[4] = 0x01;
  constexpr std::uint8_t kOne[10] = {0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f};
  std::memcpy(vectors + 32, kOne, sizeof kOne);
  vectors[24] = 0x80;  // mxcsr
  vectors[25] = 0x1f;
  if (size <= 576) return;
  const unsigned known = vectors[464 + 8];  // the components that a signal frame has
  vectors[512] |= 3;
  for (const unsigned component : kComponents) {
    const auto [at, bytes] = components[component];
    if ((known >> component & 1) == 0 || at + bytes > size) continue;
    for (std::size_t i = 0; i < bytes; ++i) vectors[at + i] = static_cast<std::uint8_t>(i * 5 + component);
    vectors[512] = static_cast<std::uint8_t>(vectors[512] | 1u << component);
  }
}

void begin_run(int, siginfo_t*, void* frame) {
  auto& context = *static_cast<ucontext_t*>(frame);
  auto& registers = context.uc_mcontext.gregs;
  std::memcpy(harness.home, registers, sizeof registers);
  auto* const vectors = reinterpret_cast<std::uint8_t*>(context.uc_mcontext.fpregs);
  const std::size_t size = vectors_size(context);
  std::memcpy(harness.home_vectors, vectors, size);
  for (int i = 0; i < 16; ++i) registers[kRegisterIndex[i]] = static_cast<greg_t>(harness.todo->registers[i]);
  registers[REG_RIP] = static_cast<greg_t>(harness.begin);
  registers[REG_EFL] = static_cast<greg_t>(harness.todo->flags | 0x200);
  fill_vectors(vectors, size);
}

void end_run(int signal, siginfo_t*, void* frame) {
  auto& context = *static_cast<ucontext_t*>(frame);
  auto& registers = context.uc_mcontext.gregs;
  State& out = *harness.out;
  out.signal = signal;
  out.ip = static_cast<std::uint64_t>(registers[REG_RIP]);
  // There are hypervisors that now and then make an invalid opcode of an int3 with a stack pointer that is no address.
  if (constexpr std::uint8_t kInt3 = 0xcc; signal == SIGILL && *as_bytes(out.ip) == kInt3) {
    out.signal = SIGTRAP;
    ++out.ip;
  }
  for (int i = 0; i < 16; ++i) out.registers[i] = static_cast<std::uint64_t>(registers[kRegisterIndex[i]]);
  out.flags = static_cast<std::uint64_t>(registers[REG_EFL]) & kComparedFlags;
  auto* const vectors = reinterpret_cast<std::uint8_t*>(context.uc_mcontext.fpregs);
  const std::size_t size = vectors_size(context);
  std::memcpy(out.vectors, vectors, size);
  std::memcpy(registers, harness.home, sizeof registers);
  std::memcpy(vectors, harness.home_vectors, size);
}

void* map(std::uint64_t begin, std::size_t size, int protection) {
  void* const at = ::mmap(as_bytes(begin), size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (at != as_bytes(begin)) std::abort();
  return at;
}

// What both runs find in memory.
void fill_memory() {
  static const std::vector<std::uint8_t> random = [] {
    std::vector<std::uint8_t> bytes(kDataSize);
    std::uint32_t last = 12345;
    for (std::uint8_t& byte : bytes) {
      last = last * 1664525 + 1013904223;
      // No half of it is small, so that it is no segment selector that can be loaded.
      byte = static_cast<std::uint8_t>(0x41 | last >> 24);
    }
    return bytes;
  }();
  static const std::vector<std::uint64_t> pointers(kPages / 8, kFarTarget);
  std::memcpy(as_bytes(kData), random.data(), kDataSize);
  std::memcpy(as_bytes(kPointers), pointers.data(), kPages);
  std::memcpy(as_bytes(kStack - kPages / 2), pointers.data(), kPages);
}

void set_up() {
  find_components();
  constexpr int kAll = PROT_READ | PROT_WRITE | PROT_EXEC;
  const std::size_t page = 0xfff;
  for (const std::uint64_t code : {kPlace & ~page, kCopy & ~page, kFarTarget & ~page})
    std::memset(map(code, kPages, kAll), 0xcc, kPages);
  map(kData, kDataSize, PROT_READ | PROT_WRITE);
  map(kStack - kPages / 2, kPages, PROT_READ | PROT_WRITE);
  static std::uint8_t stack[256 << 10];
  const stack_t alternate{stack, 0, sizeof stack};
  ::sigaltstack(&alternate, nullptr);
  struct sigaction action {};
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  action.sa_sigaction = begin_run;
  ::sigaction(SIGUSR1, &action, nullptr);
  action.sa_sigaction = end_run;
  for (const int signal : {SIGTRAP, SIGSEGV, SIGILL, SIGFPE, SIGBUS}) ::sigaction(signal, &action, nullptr);
  // Some instructions tell which processor they run on.
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(static_cast<unsigned>(std::max(::sched_getcpu(), 0)), &cpus);
  ::sched_setaffinity(0, sizeof cpus, &cpus);
}

struct Memory {
  std::vector<std::uint8_t> data = std::vector<std::uint8_t>(as_bytes(kData), as_bytes(kData) + kDataSize);
  std::vector<std::uint8_t> stack =
      std::vector<std::uint8_t>(as_bytes(kStack - kPages / 2), as_bytes(kStack - kPages / 2) + kPages);
};

void run(const Case& todo, std::uint64_t begin, State& out) {
  fill_memory();
  harness.todo = &todo;
  harness.begin = begin;
  harness.out = &out;
  ::raise(SIGUSR1);
}

bool has_component(const State& state, unsigned component) { return (state.vectors[512] >> component & 1) != 0; }

// Of the vector registers: x87 and xmm but for the instruction's address, and what CPUID says of the others.
bool same_vectors(const State& a, const State& b) {
  const auto same = [&](std::size_t at, std::size_t size) {
    return std::memcmp(a.vectors + at, b.vectors + at, size) == 0;
  };
  if (has_component(a, 0) && has_component(b, 0) && !(same(0, 8) && same(24, 136))) return false;
  if (has_component(a, 1) && has_component(b, 1) && !same(160, 256)) return false;
  for (const unsigned component : kComponents) {
    const auto [at, size] = components[component];
    if (has_component(a, component) && has_component(b, component) && !same(at, size)) return false;
  }
  return true;
}

std::string difference(const State& original, const State& copy, const Memory& left, const Memory& right,
                       std::size_t copied) {
  if (original.signal != copy.signal) return fmt::format("signal {} and {}", original.signal, copy.signal);
  const bool both_fault = original.ip == kPlace && copy.ip >= kCopy && copy.ip < kCopy + copied;
  if (original.ip != copy.ip && !both_fault) return fmt::format("goes to {:#x} and {:#x}", original.ip, copy.ip);
  for (int i = 0; i < 16; ++i) {
    if (original.registers[i] != copy.registers[i])
      return fmt::format("register {} is {:#x} and {:#x}", i, original.registers[i], copy.registers[i]);
  }
  if (original.flags != copy.flags) return fmt::format("flags {:#x} and {:#x}", original.flags, copy.flags);
  if (!same_vectors(original, copy)) return "vector registers differ";
  if (left.data != right.data) return "memory differs";
  return left.stack != right.stack ? "the stack differs" : "";
}

void put(std::uint64_t at, const std::vector<std::uint8_t>& bytes) {
  std::memcpy(as_bytes(at), bytes.data(), bytes.size());
}

std::string compare_one(const Case& one, bool& faulted) {
  const auto instruction = decode(one.bytes);
  if (!instruction || instruction->length != one.bytes.size()) return "is not an instruction";
  agent::Recipe recipe{};
  if (!append_moved(recipe, *instruction, one.bytes, 0)) return "cannot be moved";
  recipe.displaced = instruction->length;
  recipe.flags = never_comes_back(*instruction) ? agent::kNeverComesBack : 0;
  static State original, copied;
  put(kPlace, one.bytes);
  run(one, kPlace, original);
  const Memory left;
  put(kPlace, std::vector<std::uint8_t>(one.bytes.size(), 0xcc));
  const std::vector<std::uint8_t> copy = fixed_up(recipe, kPlace, kCopy);
  put(kCopy, copy);
  run(one, kCopy, copied);
  const Memory right;
  put(kCopy, std::vector<std::uint8_t>(copy.size(), 0xcc));
  faulted = original.signal != SIGTRAP;
  return difference(original, copied, left, right, copy.size());
}

// What the process that runs instructions tells.
struct Report {
  std::size_t next;  // where to go on if it died
  std::size_t run, faulted, differences;
  char texts[kMaxDifferences][200];
};

void note(Report& report, const Case& one, const std::string& text) {
  if (report.differences >= kMaxDifferences) return;
  const std::string line = in_text(one.bytes) + ": " + text;
  std::strncpy(report.texts[report.differences++], line.c_str(), sizeof report.texts[0] - 1);
}

void run_all(const std::vector<Case>& cases, Report& report) {
  set_up();
  while (report.next < cases.size() && report.differences < kMaxDifferences) {
    const Case& one = cases[report.next++];
    bool faulted = false;
    const std::string text = compare_one(one, faulted);
    if (!text.empty()) note(report, one, text);
    ++report.run;
    report.faulted += faulted;
  }
}

}  // namespace

std::array<std::uint64_t, 16> usual_registers() {
  std::array<std::uint64_t, 16> registers{};
  for (std::size_t i = 0; i < registers.size(); ++i) registers[i] = kPointers + 0x800 + i * 0x40;
  registers[kCx] = 3;
  registers[kSp] = kStack;
  return registers;
}

std::vector<std::uint8_t> fixed_up(const agent::Recipe& recipe, std::uint64_t place, std::uint64_t copy) {
  std::vector<std::uint8_t> bytes(recipe.copy, recipe.copy + recipe.copy_size);
  const auto put_word = [&](std::size_t at, std::uint64_t value) {
    for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<std::uint8_t>(value >> 8 * i);
  };
  for (std::size_t i = 0; i < recipe.fixup_count; ++i) {
    const agent::Fixup& fixup = recipe.fixups[i];
    const std::uint64_t target = place + static_cast<std::uint64_t>(std::int64_t{fixup.target});
    if (fixup.kind == agent::FixupKind::kRelative32) put_word(fixup.at, target - (copy + fixup.next));
    if (fixup.kind == agent::FixupKind::kLow32) put_word(fixup.at, target);
    if (fixup.kind == agent::FixupKind::kHigh32) put_word(fixup.at, target >> 32);
  }
  if ((recipe.flags & agent::kNeverComesBack) == 0) {
    bytes.push_back(0xe9);
    bytes.resize(bytes.size() + 4);
    put_word(bytes.size() - 4, place + recipe.displaced - (copy + bytes.size()));
  }
  return bytes;
}

Outcome compare(const std::vector<Case>& cases) {
  void* const shared = ::mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  Report& report = *new (shared) Report{};
  while (report.next < cases.size() && report.differences < kMaxDifferences) {
    const pid_t child = ::fork();
    if (child == 0) {
      run_all(cases, report);
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (!WIFEXITED(status) && report.next != 0) note(report, cases[report.next - 1], "its process died");
  }
  Outcome outcome{.run = report.run, .faulted = report.faulted, .differences = {}};
  for (std::size_t i = 0; i < report.differences; ++i) outcome.differences.emplace_back(report.texts[i]);
  ::munmap(shared, sizeof(Report));
  return outcome;
}

std::string in_text(const std::vector<std::uint8_t>& bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) text += fmt::format("{}{:02x}", text.empty() ? "" : " ", byte);
  return text;
}

}  // namespace landtrace::code::test
