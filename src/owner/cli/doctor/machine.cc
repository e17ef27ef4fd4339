#include <fcntl.h>
#include <fmt/format.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/membarrier.h>
#include <linux/netlink.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "arch/clock.hpp"
#include "arch/rseq.hpp"
#include "base/mapping.hpp"
#include "cli/doctor/check.hpp"
#include "cli/failure.hpp"

namespace landtrace::cli::doctor {
namespace {

Check rseq() {
  if (arch::rseq_usable()) {
    return {kMachine, "rseq", State::kWorks, "restartable sequences write events without atomic instructions", ""};
  }
  return {kMachine, "rseq", State::kMissing, "no restartable sequences: events are written with atomic instructions",
          "glibc 2.35 or later registers them, unless GLIBC_TUNABLES has glibc.pthread.rseq=0; the processor must have "
          "AVX"};
}

Check membarrier() {
  const long commands = ::syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
  if (commands > 0 && (commands & MEMBARRIER_CMD_GLOBAL_EXPEDITED) != 0) {
    return {kMachine, "membarrier", State::kWorks, "membarrier(GLOBAL_EXPEDITED)", ""};
  }
  return {kMachine, "membarrier", State::kMissing,
          commands < 0 ? "membarrier: " + errno_text(errno) : "the kernel has no MEMBARRIER_CMD_GLOBAL_EXPEDITED",
          "a kernel of 4.16 or later has it; a seccomp profile may forbid it"};
}

Result<void> try_seals() {
  LT_TRY(const Fd fd, create_memfd("landtrace-doctor", 4096));
  LT_CHECK(seal_against_new_writers(fd.get()));
  if (Mapping::map(fd.get(), 4096, Mapping::Access::kReadWrite))
    return fail(EPROTO, "F_SEAL_FUTURE_WRITE has no effect");
  return {};
}

Check memfd_seals() {
  const auto tried = try_seals();
  if (tried) return {kMachine, "memfd_seals", State::kWorks, "shared memory can be sealed", ""};
  return {kMachine, "memfd_seals", State::kMissing, sentence(tried.error()),
          "a kernel of 5.1 or later has what it takes"};
}

Check tsc() {
  if (arch::best_raw_clock() == arch::RawClock::kTsc) {
    return {kMachine, "tsc", State::kWorks, "the time stamp counter is the clock", ""};
  }
  return {kMachine, "tsc", State::kAbsent,
          "the clock is clock_gettime(): the kernel does not trust the time stamp counter", ""};
}

// <linux/cn_proc.h> has them in different places, as it goes.
constexpr unsigned kAcknowledgement = 0, kForkEvent = 1;

// Subscribes, forks, and waits for the news.
Result<void> try_proc_connector() {
  const Fd fd(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_CONNECTOR));
  if (!fd) return fail_errno("netlink socket");
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = CN_IDX_PROC;
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return fail_errno("bind");
  alignas(nlmsghdr) char message[NLMSG_SPACE(sizeof(cn_msg) + sizeof(proc_cn_mcast_op))] = {};
  auto* const head = reinterpret_cast<nlmsghdr*>(message);
  head->nlmsg_len = NLMSG_LENGTH(sizeof(cn_msg) + sizeof(proc_cn_mcast_op));
  head->nlmsg_type = NLMSG_DONE;
  auto* const body = static_cast<cn_msg*>(NLMSG_DATA(head));
  body->id = {CN_IDX_PROC, CN_VAL_PROC};
  body->len = sizeof(proc_cn_mcast_op);
  const proc_cn_mcast_op listen = PROC_CN_MCAST_LISTEN;
  std::memcpy(body->data, &listen, sizeof listen);
  if (::send(fd.get(), message, head->nlmsg_len, 0) < 0) return fail_errno("subscribing");
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  constexpr int kPatience_ms = 500;
  for (;;) {
    pollfd poll_fd{fd.get(), POLLIN, 0};
    if (::poll(&poll_fd, 1, kPatience_ms) <= 0) return fail(ENOENT, "it says nothing of processes in this namespace");
    alignas(nlmsghdr) char news[4096];
    const ssize_t n = ::recv(fd.get(), news, sizeof news, 0);
    if (n < static_cast<ssize_t>(NLMSG_LENGTH(sizeof(cn_msg) + sizeof(proc_event)))) continue;
    proc_event event;
    std::memcpy(&event, news + NLMSG_LENGTH(sizeof(cn_msg)), sizeof event);
    if (static_cast<unsigned>(event.what) == kForkEvent) return {};
    if (static_cast<unsigned>(event.what) == kAcknowledgement && event.event_data.ack.err != 0) {
      return fail_errno("subscribing", static_cast<int>(event.event_data.ack.err));
    }
  }
}

Check proc_connector() {
  const auto tried = try_proc_connector();
  if (tried) return {kMachine, "proc_connector", State::kWorks, "the kernel tells of forks and exits", ""};
  return {kMachine, "proc_connector", State::kAbsent, sentence(tried.error()) + "; /proc is looked through instead",
          ""};
}

Check kernel_user_events() {
  for (const char* path : {"/sys/kernel/tracing/user_events_data", "/sys/kernel/debug/tracing/user_events_data"}) {
    if (::access(path, F_OK) != 0) continue;
    if (::access(path, W_OK) == 0) return {kMachine, "kernel_user_events", State::kWorks, std::string(path), ""};
    return {kMachine, "kernel_user_events", State::kAbsent, std::string(path) + " is not for this user", ""};
  }
  return {kMachine, "kernel_user_events", State::kAbsent, "the kernel's own user_events are not there, nor needed", ""};
}

}  // namespace

std::vector<Check> check_machine() {
  return {rseq(), membarrier(), memfd_seals(), tsc(), proc_connector(), kernel_user_events()};
}

}  // namespace landtrace::cli::doctor
