#include "supervisor.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "child.hpp"
#include "kernel_trace.hpp"
#include "lttng_session.hpp"
#include "mounted_domain.hpp"

namespace landtrace::bench {
namespace {

volatile sig_atomic_t interrupted = 0;

// Not restarting: waitpid() below is to come back.
void notice_signals() {
  struct sigaction action {};
  action.sa_handler = [](int number) { interrupted = number; };
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(number, &action, nullptr);
}

class PrivateFolder {
 public:
  PrivateFolder() {
    if (::mkdtemp(path_.data()) == nullptr) throw Broken("mkdtemp " + path_ + ": " + errno_text(errno));
  }
  ~PrivateFolder() {
    ::umount2((path_ + kMountFolder).c_str(), MNT_DETACH);  // where its daemon had no time for it
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_ = "/tmp/landtrace-bench-XXXXXX";
};

int run_measure(const Setting& setting) {
  Command command = role("measure", setting.to_arguments());
  command.environment.insert(command.environment.end(), {{"LD_PRELOAD", LANDTRACE_SHIM},
                                                         {"LANDTRACE_SOCKET", setting.folder + "/domain.sock"},
                                                         {"LTTNG_HOME", setting.folder}});
  command.shares_output = true;
  Child child(command);
  int status = 0;
  while (interrupted == 0) {
    if (::waitpid(child.pid(), &status, 0) >= 0) {
      child.forget();
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
  }
  fmt::print(stderr, "\nlandtrace_bench: interrupted; cleaning up\n");
  return 128 + interrupted;
}

}  // namespace

int supervise(Setting setting) {
  notice_signals();
  const PrivateFolder folder;
  setting.folder = folder.path();
  const KernelTrace kernel(folder.path());
  setting.tracefs = kernel.peer();
  const LttngSession lttng(folder.path(), kernel.is_private());
  setting.lttng = lttng.peer();
  return interrupted != 0 ? 128 + interrupted : run_measure(setting);
}

}  // namespace landtrace::bench
