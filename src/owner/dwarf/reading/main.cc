// landtrace-dwarf: reads debugging information for those who do not want to do it themselves. Before it looks at a file
// it gives up what rights and resources it does not need.
#include <fcntl.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "dwarf/reading/answers.hpp"
#include "dwarf/talk.hpp"

namespace {

using namespace landtrace;

constexpr rlim_t kMostMemory = 1u << 30;
constexpr rlim_t kMostFiles = 256;

bool limit(int what, rlim_t most) {
  const rlimit both{most, most};
  return ::setrlimit(static_cast<__rlimit_resource_t>(what), &both) == 0;
}

bool set_limits(rlim_t seconds) {
#if !defined(__SANITIZE_ADDRESS__)
  if (!limit(RLIMIT_DATA, kMostMemory)) return false;
#endif
  return limit(RLIMIT_CPU, seconds) && limit(RLIMIT_CORE, 0) && limit(RLIMIT_NOFILE, kMostFiles) &&
         ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

// The rights of who asks. For root those of whom the file belongs to: who has damaged it on purpose gains nothing.
bool take_rights(uid_t uid, gid_t gid) {
  struct stat object {};
  if (::fstat(dwarf::kObjectFd, &object) != 0) return false;
  if (::geteuid() != 0) {
    // Another user's rights cannot be had: that user could read what everybody can.
    return uid == ::geteuid() || (object.st_mode & S_IROTH) != 0;
  }
  if (uid == 0) {
    uid = object.st_uid;
    gid = object.st_gid;
  }
  if (uid == 0) return true;
  return ::setgroups(0, nullptr) == 0 && ::setresgid(gid, gid, gid) == 0 && ::setresuid(uid, uid, uid) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  unsigned uid = 0, gid = 0, seconds = 0;
  if (argc < 5 || std::sscanf(argv[1], "%u:%u:%u", &uid, &gid, &seconds) != 3) {
    std::fputs("landtrace-dwarf: Landtrace's other programs start it, with a file as descriptor 3\n", stderr);
    return 2;
  }
  std::string text;
  try {
    if (!set_limits(seconds) || !take_rights(uid, gid)) {
      dwarf::add_line(text, {dwarf::kErrorTag, std::to_string(EACCES), "its debugging information cannot be read"});
      dwarf::add_line(text, {dwarf::kEndTag});
    } else {
      text = dwarf::answer(Fd(dwarf::kObjectFd), argv[2], argv[3], {argv + 4, argv + argc});
    }
  } catch (const std::bad_alloc&) {
    text.clear();
    dwarf::add_line(
        text, {dwarf::kErrorTag, std::to_string(ENOMEM), "reading its debugging information takes too much memory"});
    dwarf::add_line(text, {dwarf::kEndTag});
  }
  return write_all(STDOUT_FILENO, text.data(), text.size()) ? EXIT_SUCCESS : EXIT_FAILURE;
}
