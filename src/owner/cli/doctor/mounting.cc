#include "cli/doctor/mounting.hpp"

#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "cli/doctor/program.hpp"
#include "cli/failure.hpp"
#include "cli/own_namespace.hpp"
#include "cli/tracefs_folders.hpp"
#include "daemon/fuse_device.hpp"

namespace landtrace::cli::doctor {
namespace {

Check dev_fuse() {
  const auto checked = daemon::check_fuse_device();
  if (checked) return {kFiles, "dev_fuse", State::kWorks, "/dev/fuse can be opened", ""};
  return {kFiles, "dev_fuse", State::kMissing, sentence(checked.error()), ""};
}

bool is_setuid_root(const std::string& file) {
  struct stat st {};
  return ::stat(file.c_str(), &st) == 0 && st.st_uid == 0 && (st.st_mode & S_ISUID) != 0;
}

Check fusermount() {
  const std::string file = find_program("fusermount3", std::getenv("PATH"));
  return judge_fusermount(file, is_setuid_root(file), ::geteuid() == 0);
}

Check user_namespaces() {
  const auto entered = run_in_child([] { return enter_own_namespace(Ids::kSame); });
  if (entered) {
    return {
        kFiles, "user_namespaces", State::kWorks,
        ::geteuid() == 0 ? "a private mount namespace can be made" : "a private user and mount namespace can be made",
        ""};
  }
  return {kFiles, "user_namespaces", State::kMissing, sentence(entered.error()), ""};
}

std::string kernel_release() {
  utsname name{};
  ::uname(&name);
  return name.release;
}

}  // namespace

std::string find_program(const std::string& name, const char* path) {
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = folder + "/" + name;
    if (::access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

// Users need it to mount; root does not.
Check judge_fusermount(const std::string& file, bool is_setuid_root, bool as_root) {
  if (!file.empty() && is_setuid_root) return {kFiles, "fusermount3", State::kWorks, file, ""};
  const std::string detail = file.empty() ? "not in $PATH" : file + " is not setuid root";
  if (as_root) return {kFiles, "fusermount3", State::kAbsent, detail, ""};
  return {kFiles, "fusermount3", State::kMissing, detail,
          file.empty() ? "install the package fuse3: users mount through it" : "as root: chmod u+s " + file};
}

Check judge_tracefs(const std::vector<std::string>& folders) {
  if (!folders.empty()) {
    return {kFiles, "tracefs_line", State::kWorks, "tracefs is mounted at " + folders[0] + ", where tools look", ""};
  }
  return {kFiles, "tracefs_line", State::kAbsent,
          "no tracefs is mounted: trace-cmd finds ours under `landtrace run --tracefs`, or with a tracefs below it",
          ""};
}

// FOPEN_DIRECT_IO files can be mapped only where the kernel lets a FUSE server allow it.
Check judge_mapped_status(const std::string& release) {
  int major = 0, minor = 0;
  std::sscanf(release.c_str(), "%d.%d", &major, &minor);
  if (major > 6 || (major == 6 && minor >= 6)) {
    return {kFiles, "mapped_status", State::kWorks, "Linux " + release + ": mounted files can be mapped", ""};
  }
  return {kFiles, "mapped_status", State::kMissing,
          "Linux " + release + ": programs that map user_events_status need 6.6 or later", "run them under the shim"};
}

std::vector<Check> check_mounting() {
  return {dev_fuse(), fusermount(), user_namespaces(), judge_tracefs(tracefs_folders()),
          judge_mapped_status(kernel_release())};
}

}  // namespace landtrace::cli::doctor
