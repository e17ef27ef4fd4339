#include "cli/static_program.hpp"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "base/fd.hpp"

namespace landtrace::cli {
namespace {

// As execvp(3) looks for it. "": there is none.
std::string path_of(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const char* const variable = std::getenv("PATH");
  std::string_view folders = variable == nullptr ? "/bin:/usr/bin" : variable;
  for (;;) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    std::string path = fmt::format("{}/{}", folder.empty() ? "." : folder, program);
    if (::access(path.c_str(), X_OK) == 0) return path;
    if (folder.size() == folders.size()) return "";
    folders.remove_prefix(folder.size() + 1);
  }
}

template <typename T>
bool read_at(const Fd& file, T& value, std::uint64_t offset) {
  return ::pread(file.get(), &value, sizeof value, static_cast<off_t>(offset)) == static_cast<ssize_t>(sizeof value);
}

}  // namespace

bool is_static_program(const std::string& program) {
  const Fd file(::open(path_of(program).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  Elf64_Ehdr header;
  if (!file || !read_at(file, header, 0) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr)) {
    return false;
  }
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!read_at(file, segment, header.e_phoff + i * sizeof segment)) return false;
    if (segment.p_type == PT_INTERP) return false;
  }
  return header.e_phnum > 0;
}

std::string why_none_registered(const std::vector<std::string>& command, bool tracefs, const std::string& socket) {
  if (command.empty()) return fmt::format(" in the domain at {}; `landtrace run -- CMD` joins it", socket);
  if (tracefs) return "";
  if (is_static_program(command.front())) {
    return fmt::format("; '{}' is linked statically and needs --tracefs", command.front());
  }
  return "; programs that are linked statically need --tracefs";
}

}  // namespace landtrace::cli
