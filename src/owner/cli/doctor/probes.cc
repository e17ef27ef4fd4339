#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attach/facts.hpp"
#include "cli/doctor/check.hpp"
#include "cli/environment.hpp"
#include "cli/failure.hpp"

namespace landtrace::cli::doctor {
namespace {

// What the agent does in programs: memory that was written becomes code.
bool may_make_code() {
  constexpr std::size_t kPage = 4096;
  void* const page = ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  const bool may = ::mprotect(page, kPage, PROT_READ | PROT_EXEC) == 0;
  ::munmap(page, kPage);
  return may;
}

Check probes() {
  if (!check_machine_has_probes()) {
    return {kProbes, "probes", State::kAbsent, "functions cannot be probed on this machine yet", ""};
  }
  if (const auto agent = find_agent(); !agent) {
    return {kProbes, "probes", State::kMissing, sentence(agent.error()), "install it beside the preload shim"};
  }
  if (!may_make_code()) {
    return {kProbes, "probes", State::kMissing, "programs may not make memory executable here",
            "SELinux's execmem, or the like, forbids it"};
  }
  return {kProbes, "probes", State::kWorks, "functions of programs can be probed", ""};
}

}  // namespace

Check judge_attach(std::uint32_t uid, int yama) {
  const auto scope = fmt::format("kernel.yama.ptrace_scope is {}", yama);
  if (yama >= 3) {
    return {kProbes, "attach", State::kMissing, scope + ": no program that runs already can be attached",
            "start programs by `landtrace run`; the setting lasts until the next boot"};
  }
  if (uid == 0) return {kProbes, "attach", State::kWorks, "root may attach any program that runs already", ""};
  if (yama <= 0)
    return {kProbes, "attach", State::kWorks, "programs of this user that run already can be attached", ""};
  return {kProbes, "attach", State::kMissing,
          scope + (yama == 1 ? ": only programs that landtrace has started can be attached"
                             : ": only root may attach programs that run already"),
          yama == 1 ? "`sysctl kernel.yama.ptrace_scope=0`, or as root; or start programs by `landtrace run`"
                    : "as root; or start programs by `landtrace run`"};
}

std::vector<Check> check_probes() {
  return {probes(), judge_attach(::geteuid(), attach::rights_over(static_cast<std::uint32_t>(::getpid())).yama)};
}

}  // namespace landtrace::cli::doctor
