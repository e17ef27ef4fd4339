#include "preload/unprobed_programs.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <tuple>

#include "client/locked.hpp"
#include "ipc/unprobed_mark.hpp"
#include "preload/real.hpp"

namespace landtrace::preload {
namespace {

constexpr std::size_t kMaxPath = 4096;
// A script that runs a program again and again says nothing new.
constexpr off_t kMuch = 64 << 10;

// "": nobody can want to know.
char mark[kMaxPath] = {};

class Descriptor {
 public:
  Descriptor(const char* path, int flags) : fd_(real().open(path, flags | O_CLOEXEC | O_NONBLOCK, 0)) {}
  ~Descriptor() {
    if (fd_ >= 0) real().close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  explicit operator bool() const { return fd_ >= 0; }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

// No segment names a loader.
bool is_static(const char* path) {
  const Descriptor file(path, O_RDONLY);
  Elf64_Ehdr header;
  if (!file || ::pread(file.get(), &header, sizeof header, 0) != sizeof header) return false;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return false;
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0) return false;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    const auto at = static_cast<off_t>(header.e_phoff + i * sizeof segment);
    if (::pread(file.get(), &segment, sizeof segment, at) != sizeof segment) return false;
    if (segment.p_type == PT_INTERP) return false;
  }
  return true;
}

bool is_program(const char* path, struct stat& status) {
  return ::stat(path, &status) == 0 && S_ISREG(status.st_mode) && ::access(path, X_OK) == 0;
}

const char* kind_of(const char* path, const struct stat& status) {
  if ((status.st_mode & S_ISUID) != 0 && status.st_uid != ::geteuid()) return "setuid";
  return is_static(path) ? "static" : nullptr;
}

// By one write: others may add theirs at the same time.
void add_line(int file, std::string_view kind, std::string_view path) {
  char line[kMaxPath];
  if (kind.size() + path.size() + 2 > sizeof line) return;
  char* end = std::copy(kind.begin(), kind.end(), line);
  *end++ = ' ';
  end = std::replace_copy(path.begin(), path.end(), end, '\n', '?');
  *end++ = '\n';
  std::ignore = real().write(file, line, static_cast<std::size_t>(end - line));
}

// True: it is a program, which exec() takes.
bool note(int file, const char* path) {
  struct stat status {};
  if (!is_program(path, status)) return false;
  if (const char* const kind = kind_of(path, status); kind != nullptr) add_line(file, kind, path);
  return true;
}

void note_in_folders(int file, const char* name) {
  const char* const variable = std::getenv("PATH");
  std::string_view folders = variable == nullptr ? "/bin:/usr/bin" : variable;
  const std::size_t length = std::strlen(name);
  for (;;) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    char path[kMaxPath];
    if (folder.size() + 1 + length < sizeof path) {
      char* end = std::copy(folder.begin(), folder.end(), path);
      if (!folder.empty()) *end++ = '/';
      std::copy_n(name, length + 1, end);
      if (note(file, path)) return;
    }
    if (folder.size() == folders.size()) return;
    folders.remove_prefix(folder.size() + 1);
  }
}

template <typename Noting>
void note_where_wanted(const char* name, Noting noting) {
  if (mark[0] == '\0' || name == nullptr || name[0] == '\0') return;
  // Neither exec() nor posix_spawn(), whose child nobody would know of, is a place to be cancelled at.
  const client::NoCancellation no_cancellation;
  const int saved_errno = errno;
  if (const Descriptor file(mark, O_WRONLY | O_APPEND | O_NOFOLLOW); file) {
    struct stat status {};
    if (::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size < kMuch) noting(file.get());
  }
  errno = saved_errno;
}

}  // namespace

void set_noting(const std::string& socket) {
  const std::string path = socket + ipc::kUnprobedSuffix;
  if (path.size() < sizeof mark) std::memcpy(mark, path.c_str(), path.size() + 1);
}

void note_program(const char* path) {
  note_where_wanted(path, [path](int file) { note(file, path); });
}

void note_program_in_path(const char* name) {
  note_where_wanted(name, [name](int file) {
    if (std::strchr(name, '/') != nullptr) {
      note(file, name);
    } else {
      note_in_folders(file, name);
    }
  });
}

}  // namespace landtrace::preload
