#include "attach/facts.hpp"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/fd.hpp"
#include "programs/task.hpp"

namespace landtrace::attach {
namespace {

// The value in a line "KEY:\tVALUE" of a status file.
std::optional<std::string> value_of(const std::string& status, const std::string& key) {
  const std::string head = "\n" + key + ":\t";
  const std::size_t at = ("\n" + status).find(head);
  if (at == std::string::npos) return std::nullopt;
  const std::size_t begin = at + head.size() - 1;
  return status.substr(begin, status.find('\n', begin) - begin);
}

std::uint32_t number_of(const std::string& status, const std::string& key) {
  const auto value = value_of(status, key);
  return value ? static_cast<std::uint32_t>(std::strtoul(value->c_str(), nullptr, 10)) : 0;
}

std::string command_of(std::uint32_t pid) {
  const auto comm = read_file(fmt::format("/proc/{}/comm", pid), 64);
  return comm ? comm->substr(0, comm->find('\n')) : "?";
}

tl::unexpected<Error> refuse(int code, const Facts& facts, const std::string& why) {
  return fail(code, fmt::format("{} cannot be attached: {}", name_of(facts), why));
}

// What stands behind the name of "PID (NAME) STATE …": names may have brackets.
std::string behind_name(const std::string& stat_file) {
  const auto stat = read_file(stat_file);
  const std::size_t end = stat ? stat->rfind(") ") : std::string::npos;
  return end == std::string::npos ? "" : stat->substr(end + 2);
}

// PF_KTHREAD among the flags, the seventh word there.
bool has_kernels_flag(std::uint32_t pid) {
  constexpr unsigned long kKernelThread = 0x0020'0000;
  const std::string text = behind_name(fmt::format("/proc/{}/stat", pid));
  unsigned long flags = 0;
  return std::sscanf(text.c_str(), "%*c %*d %*d %*d %*d %*d %lu", &flags) == 1 && (flags & kKernelThread) != 0;
}

}  // namespace

char state_of_thread(std::uint32_t pid, std::uint32_t tid) {
  const std::string text = behind_name(fmt::format("/proc/{}/task/{}/stat", pid, tid));
  return text.empty() ? 'X' : text[0];
}

std::string name_of(const Facts& facts) { return fmt::format("{} ({})", facts.pid, facts.name); }

Result<Facts> facts_of(std::uint32_t pid) {
  const auto status = read_file(fmt::format("/proc/{}/status", pid), 64 << 10);
  if (!status || status->empty()) return fail(ESRCH, fmt::format("there is no process {}", pid));
  Facts facts;
  facts.pid = number_of(*status, "Tgid");
  if (facts.pid != pid) return facts_of(facts.pid);
  facts.name = command_of(pid);
  facts.state = value_of(*status, "State").value_or("?")[0];
  if (const auto uids = value_of(*status, "Uid")) {
    std::sscanf(uids->c_str(), "%u %u", &facts.real_uid, &facts.effective_uid);
  }
  facts.tracer = number_of(*status, "TracerPid");
  facts.is_kernel_thread = has_kernels_flag(pid);
  const bool has_memory = value_of(*status, "VmSize").has_value();
  if (!has_memory && !facts.is_kernel_thread && facts.state != 'Z') facts.state = 'X';
  return facts;
}

Image image_of(std::uint32_t pid) {
  Image image;
  const Fd file(::open(fmt::format("/proc/{}/exe", pid).c_str(), O_RDONLY | O_CLOEXEC));
  Elf64_Ehdr header{};
  if (!file || ::pread(file.get(), &header, sizeof header, 0) < EI_NIDENT) return image;
  image.is_readable = true;
  image.is_elf64 = std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64;
#if defined(__x86_64__)
  image.is_of_this_machine = image.is_elf64 && header.e_machine == EM_X86_64;
#endif
  if (!image.is_elf64 || header.e_phentsize != sizeof(Elf64_Phdr)) return image;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    const auto at = static_cast<off_t>(header.e_phoff + i * sizeof segment);
    if (::pread(file.get(), &segment, sizeof segment, at) != static_cast<ssize_t>(sizeof segment)) return image;
    if (segment.p_type != PT_INTERP || segment.p_filesz > 4096) continue;
    std::vector<char> text(segment.p_filesz + 1);
    if (::pread(file.get(), text.data(), segment.p_filesz, static_cast<off_t>(segment.p_offset)) > 0) {
      image.interpreter = text.data();
    }
  }
  return image;
}

Rights rights_over(std::uint32_t pid) {
  Rights rights;
  rights.uid = ::geteuid();
  if (const auto scope = read_file("/proc/sys/kernel/yama/ptrace_scope", 16)) rights.yama = std::atoi(scope->c_str());
  const auto self = static_cast<std::uint32_t>(::getpid());
  for (auto stat = programs::stat_of(pid); stat && stat->parent > 1; stat = programs::stat_of(stat->parent)) {
    if (stat->parent == self) rights.is_ancestor = true;
    if (rights.is_ancestor) break;
  }
  return rights;
}

Result<void> check(const Facts& facts, const Image& image) {
  if (facts.is_kernel_thread) return refuse(EINVAL, facts, "it is a thread of the kernel, not a program");
  if (facts.state == 'Z' || facts.state == 'X') return refuse(ESRCH, facts, "it has ended");
  if (facts.pid == static_cast<std::uint32_t>(::getpid())) return refuse(EINVAL, facts, "it is this command itself");
  if (facts.tracer != 0) {
    return refuse(
        EBUSY, facts,
        fmt::format("process {} ({}), a debugger perhaps, traces it already", facts.tracer, command_of(facts.tracer)));
  }
  if (facts.state == 'T') {
    return refuse(EBUSY, facts, fmt::format("a signal has stopped it; `kill -CONT {}` lets it go on", facts.pid));
  }
  if (!image.is_readable) return {};
  if (!image.is_elf64) return refuse(ENOEXEC, facts, "it is a 32-bit program");
  if (!image.is_of_this_machine) return refuse(ENOTSUP, facts, "probes are not there on this machine yet");
  if (image.interpreter.empty()) {
    return refuse(ENOEXEC, facts, "it is linked statically, and nothing can be loaded into it");
  }
  if (image.interpreter.find("ld-musl") != std::string::npos) {
    return refuse(ENOEXEC, facts, "its C library is musl, and the agent needs glibc");
  }
  return {};
}

std::string why_not_permitted(const Facts& facts, const Rights& rights) {
  const std::string head = name_of(facts) + " cannot be attached: ";
  const std::string instead = ", or start it by `landtrace run`";
  if (rights.uid == 0)
    return head + "the system does not let root look into it here (a container without CAP_SYS_PTRACE?)";
  if (rights.yama >= 3) return head + "kernel.yama.ptrace_scope is 3, so nobody may until the next boot";
  if (facts.real_uid != rights.uid)
    return head + fmt::format("it is another user's (uid {}); root may", facts.real_uid);
  if (facts.effective_uid != facts.real_uid) {
    return head + fmt::format("it has the rights of another user (uid {}, setuid); root may", facts.effective_uid);
  }
  if (rights.yama == 2) return head + "kernel.yama.ptrace_scope is 2, so only root may" + instead;
  if (rights.yama == 1 && !rights.is_ancestor) {
    return head +
           "kernel.yama.ptrace_scope is 1, so only its parent and root may; `sysctl kernel.yama.ptrace_scope=0` "
           "lets you, too" +
           instead;
  }
  return head + "it has rights of its own (setuid, capabilities), or has forbidden to be looked into; root may";
}

}  // namespace landtrace::attach
