#include "attach/safe_place.hpp"

#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "base/fd.hpp"

namespace landtrace::attach {
namespace {

#if defined(__x86_64__)

// The kernel's, which no program sees: the call is to be begun anew.
constexpr long kRestart = -512;
constexpr long kRestartAlways = -513;
constexpr long kRestartWithoutHandler = -514;
constexpr long kRestartBlock = -516;
constexpr std::uint64_t kCallBytes = 2;
constexpr unsigned char kCall[kCallBytes] = {0x0f, 0x05};
constexpr std::uint64_t kRecvWaitAll = 0x100;
// How much of a stack is looked through.
constexpr std::uint64_t kMostStack = 256 << 10;
// … and of the code of all that is called like libc or the loader.
constexpr std::uint64_t kMostSearched = 64 << 20;
// In the frame of a signal, from where the handler's return address is: the interrupted thread's rax and rip.
constexpr std::uint64_t kFrameRax = 8 + 40 + 13 * 8;
constexpr std::uint64_t kFrameRip = 8 + 40 + 16 * 8;
// mov $15, %rax; syscall
constexpr unsigned char kReturnFromSignal[] = {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};

struct Call {
  long number = 0;
  std::uint64_t arguments[6] = {};
};

// A file that ends, as the loader's objects do. Reading from a terminal, a pipe or a socket is nothing that is done
// with a lock of libc's held.
bool is_regular(std::uint32_t pid, std::uint64_t fd) {
  struct stat st {};
  return ::stat(fmt::format("/proc/{}/fd/{}", pid, static_cast<int>(fd)).c_str(), &st) != 0 || S_ISREG(st.st_mode);
}

Standing::Kind kind_of_futex(const Call& call) {
  switch (call.arguments[1] & FUTEX_CMD_MASK) {
    case FUTEX_WAIT_BITSET:  // condition variables, semaphores, pthread_join
      return Standing::Kind::kWaits;
    case FUTEX_WAIT:  // also libc's own locks; then it is not for long
      return Standing::Kind::kWaitsOnce;
    default:
      return Standing::Kind::kInTheWay;
  }
}

// Which calls may be begun anew, and are none of malloc's or the loader's. Not those that may have done a part of their
// work: a write, a connect().
Standing::Kind kind_of_call(std::uint32_t pid, const Call& call) {
  using enum Standing::Kind;
  switch (call.number) {
    case SYS_read:
    case SYS_readv:
      return is_regular(pid, call.arguments[0]) ? kInTheWay : kWaits;
    case SYS_recvfrom:
      return (call.arguments[3] & kRecvWaitAll) != 0 ? kInTheWay : kWaits;
    case SYS_recvmsg:
      return (call.arguments[2] & kRecvWaitAll) != 0 ? kInTheWay : kWaits;
    case SYS_poll:
    case SYS_ppoll:
    case SYS_select:
    case SYS_pselect6:
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_pause:
    case SYS_rt_sigsuspend:
    case SYS_wait4:
    case SYS_waitid:
    case SYS_accept:
    case SYS_accept4:
    case SYS_flock:
    case SYS_msgrcv:
    case SYS_restart_syscall:  // sleeping, or in poll(), since before a stop
      return kWaits;
    case SYS_futex:
      return kind_of_futex(call);
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
      // Without an end there is no time to be waited for again.
      return static_cast<int>(call.arguments[3]) < 0 ? kWaits : kWaitsOnce;
    case SYS_rt_sigtimedwait:
      return call.arguments[2] == 0 ? kWaits : kWaitsOnce;
    case SYS_semop:
      return kWaits;
    case SYS_semtimedop:
    case SYS_io_getevents:
    case SYS_io_uring_enter:
    case 441:  // epoll_pwait2
    case 449:  // futex_waitv
      return kWaitsOnce;
    default:
      return kInTheWay;
  }
}

// Calls that answer EINTR by themselves when a thread is stopped.
bool is_begun_anew_by_hand(long number) {
  constexpr long kCalls[] = {SYS_epoll_wait,
                             SYS_epoll_pwait,
                             SYS_rt_sigtimedwait,
                             SYS_semop,
                             SYS_semtimedop,
                             SYS_io_getevents,
                             SYS_accept,
                             SYS_accept4,
                             SYS_recvfrom,
                             SYS_recvmsg,
                             SYS_read,
                             SYS_readv,
                             SYS_msgrcv,
                             426,
                             441,
                             449};
  return std::find(std::begin(kCalls), std::end(kCalls), number) != std::end(kCalls);
}

bool is_libc_or_loader(const std::string& name) {
  constexpr const char* kNames[] = {"libc.so",    "libc-2.",  "ld-linux", "ld-2.", "ld.so",
                                    "libpthread", "libdl.so", "libdl-2.", "librt", "ld-musl"};
  return std::any_of(std::begin(kNames), std::end(kNames), [&](const char* one) { return name.rfind(one, 0) == 0; });
}

// Takes what is read of `left`.
std::vector<std::uint64_t> find_returns_from_signals(const ProgramMemory& memory, const MappedObject& object,
                                                     std::uint64_t& left) {
  std::vector<std::uint64_t> found;
  for (const Extent& code : object.code()) {
    std::string bytes(std::min(code.end - code.begin, left), '\0');
    left -= bytes.size();
    if (!memory.read(code.begin, bytes.data(), bytes.size())) continue;
    const std::string_view wanted(reinterpret_cast<const char*>(kReturnFromSignal), sizeof kReturnFromSignal);
    for (std::size_t at = bytes.find(wanted); at != std::string::npos; at = bytes.find(wanted, at + 1)) {
      found.push_back(code.begin + at);
    }
  }
  return found;
}

#endif

}  // namespace

#if defined(__x86_64__)

Standing standing_of(std::uint32_t pid, std::uint32_t tid) {
  const auto text = read_file(fmt::format("/proc/{}/task/{}/syscall", pid, tid), 4096);
  if (!text || text->empty()) return {};
  if (text->rfind("running", 0) == 0) return {Standing::Kind::kRuns, 0};
  Call call;
  auto& a = call.arguments;
  if (std::sscanf(text->c_str(), "%ld %lx %lx %lx %lx %lx %lx", &call.number, &a[0], &a[1], &a[2], &a[3], &a[4],
                  &a[5]) < 7) {
    return {Standing::Kind::kInTheWay, 0};  // blocked, but in no call: a fault of a page
  }
  return {kind_of_call(pid, call), std::hash<std::string>()(*text)};
}

bool is_in_call(const user_regs_struct& registers) {
  const auto result = static_cast<long>(registers.rax);
  const auto number = static_cast<long>(registers.orig_rax);
  if (number < 0) return false;
  return result == kRestart || result == kRestartAlways || result == kRestartWithoutHandler ||
         result == kRestartBlock || (result == -EINTR && is_begun_anew_by_hand(number));
}

bool answers_by_itself(const user_regs_struct& registers) {
  return is_in_call(registers) && static_cast<long>(registers.rax) == -EINTR;
}

std::uint64_t place_of(const user_regs_struct& registers) { return registers.rip; }
void set_place(user_regs_struct& registers, std::uint64_t address) { registers.rip = address; }

void begin_anew(user_regs_struct& registers) {
  if (!is_in_call(registers)) {
    registers.orig_rax = ~0ull;
    return;
  }
  const bool has_block = static_cast<long>(registers.rax) == kRestartBlock;
  registers.rax = has_block ? SYS_restart_syscall : registers.orig_rax;
  registers.rip -= kCallBytes;
  registers.orig_rax = ~0ull;
}

SafePlaces SafePlaces::of(const ProgramMemory& memory, const std::vector<MappedRange>& ranges,
                          const std::vector<MappedObject>& objects) {
  SafePlaces places(memory);
  places.ranges_ = ranges;
  std::uint64_t left = kMostSearched;
  for (const MappedObject& object : objects) {
    const bool is_libc = is_libc_or_loader(object.name());
    if (is_libc || object.find(memory, "malloc") != 0) places.unsafe_.push_back(object.path());
    if (!is_libc) continue;
    for (const std::uint64_t one : find_returns_from_signals(memory, object, left)) places.returns_.push_back(one);
  }
  return places;
}

bool SafePlaces::is_safe_code(std::uint64_t address) const {
  const MappedRange* const range = range_of(ranges_, address);
  // What has come since is perhaps being loaded.
  if (range == nullptr || !range->is_executable || range->path == "[vdso]") return false;
  return std::find(unsafe_.begin(), unsafe_.end(), range->path) == unsafe_.end();
}

// The frame that the system leaves on the stack for a handler. What stands there may be a dead one's: then it counts
// all the same.
bool SafePlaces::was_safe_when_interrupted(std::uint64_t frame) const {
  std::uint64_t rip = 0;
  std::uint64_t rax = 0;
  if (!memory_.read(frame + kFrameRip, rip) || !memory_.read(frame + kFrameRax, rax)) return true;
  const MappedRange* const range = range_of(ranges_, rip);
  if (range == nullptr || !range->is_executable) return true;  // no such frame at all
  if (is_safe_code(rip)) return true;
  // In a call: what waited was nothing that holds a lock.
  unsigned char bytes[kCallBytes];
  if (static_cast<long>(rax) == -EINTR && memory_.read(rip - kCallBytes, bytes)) {
    return std::memcmp(bytes, kCall, sizeof kCall) == 0;
  }
  if (!memory_.read(rip, bytes) || std::memcmp(bytes, kCall, sizeof kCall) != 0) return false;
  return rax != SYS_mmap && rax != SYS_munmap && rax != SYS_brk && rax != SYS_mprotect && rax != SYS_madvise &&
         rax != SYS_futex && rax != SYS_openat && rax != SYS_mremap;
}

bool SafePlaces::is_stack_safe(std::uint64_t pointer) const {
  const MappedRange* const range = range_of(ranges_, pointer);
  const std::uint64_t end = std::min(range == nullptr ? pointer + 4096 : range->end, pointer + kMostStack);
  std::vector<std::uint64_t> words((end - pointer) / 8);
  if (!memory_.read(pointer, words.data(), words.size() * 8)) return range == nullptr;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (std::find(returns_.begin(), returns_.end(), words[i]) == returns_.end()) continue;
    if (!was_safe_when_interrupted(pointer + i * 8)) return false;
  }
  return true;
}

bool SafePlaces::is_safe(std::uint32_t tid, const user_regs_struct& registers) const {
  if (is_in_call(registers)) {
    const Call call{static_cast<long>(registers.orig_rax),
                    {registers.rdi, registers.rsi, registers.rdx, registers.r10, registers.r8, registers.r9}};
    if (kind_of_call(tid, call) == Standing::Kind::kInTheWay) return false;
  } else if (!is_safe_code(registers.rip)) {
    return false;
  }
  return is_stack_safe(registers.rsp & ~7ull);
}

#else

Standing standing_of(std::uint32_t, std::uint32_t) { return {}; }
bool is_in_call(const user_regs_struct&) { return false; }
bool answers_by_itself(const user_regs_struct&) { return false; }
void begin_anew(user_regs_struct&) {}
std::uint64_t place_of(const user_regs_struct&) { return 0; }
void set_place(user_regs_struct&, std::uint64_t) {}
SafePlaces SafePlaces::of(const ProgramMemory& memory, const std::vector<MappedRange>&,
                          const std::vector<MappedObject>&) {
  return SafePlaces(memory);
}
bool SafePlaces::is_safe(std::uint32_t, const user_regs_struct&) const { return false; }

#endif

}  // namespace landtrace::attach
