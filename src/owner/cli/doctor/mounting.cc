#include <fmt/format.h>
#include <mntent.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>

#include "base/fd.hpp"
#include "cli/doctor/check.hpp"
#include "cli/doctor/program.hpp"
#include "cli/failure.hpp"
#include "cli/own_namespace.hpp"
#include "daemon/fuse_device.hpp"

namespace landtrace::cli::doctor {
namespace {

Check dev_fuse() {
  const auto checked = daemon::check_fuse_device();
  if (checked) return {kFiles, "dev_fuse", State::kWorks, "/dev/fuse can be opened", ""};
  return {kFiles, "dev_fuse", State::kMissing, sentence(checked.error()), ""};
}

std::string in_path(const std::string& name) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = folder + "/" + name;
    if (::access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

Check fusermount() {
  const std::string file = in_path("fusermount3");
  if (file.empty()) {
    const State state = ::geteuid() == 0 ? State::kAbsent : State::kMissing;
    return {kFiles, "fusermount3", state, "not in $PATH",
            state == State::kAbsent ? "" : "install the package fuse3: users mount through it"};
  }
  struct stat st {};
  if (::stat(file.c_str(), &st) == 0 && st.st_uid == 0 && (st.st_mode & S_ISUID) != 0) {
    return {kFiles, "fusermount3", State::kWorks, file, ""};
  }
  return {kFiles, "fusermount3", ::geteuid() == 0 ? State::kAbsent : State::kMissing, file + " is not setuid root",
          ::geteuid() == 0 ? "" : "as root: chmod u+s " + file};
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

Check tracefs_line() {
  std::string folder;
  if (FILE* const file = ::setmntent("/proc/mounts", "re"); file != nullptr) {
    while (const mntent* const line = ::getmntent(file)) {
      if (folder.empty() && std::string_view(line->mnt_type) == "tracefs") folder = line->mnt_dir;
    }
    ::endmntent(file);
  }
  if (!folder.empty()) {
    return {kFiles, "tracefs_line", State::kWorks, "tracefs is mounted at " + folder + ", where tools look", ""};
  }
  return {kFiles, "tracefs_line", State::kAbsent,
          "no tracefs is mounted: trace-cmd finds ours under `landtrace run --tracefs`, or with a tracefs below it",
          ""};
}

// FOPEN_DIRECT_IO files can be mapped only where the kernel lets a FUSE server allow it.
Check mapped_status() {
  utsname name{};
  ::uname(&name);
  int major = 0, minor = 0;
  std::sscanf(name.release, "%d.%d", &major, &minor);
  const std::string release = std::string("Linux ") + name.release;
  if (major > 6 || (major == 6 && minor >= 6)) {
    return {kFiles, "mapped_status", State::kWorks, release + ": mounted files can be mapped", ""};
  }
  return {kFiles, "mapped_status", State::kMissing,
          release + ": programs that map user_events_status need 6.6 or later", "run them under the shim"};
}

}  // namespace

std::vector<Check> check_mounting() {
  return {dev_fuse(), fusermount(), user_namespaces(), tracefs_line(), mapped_status()};
}

}  // namespace landtrace::cli::doctor
