#include "cli/static_program.hpp"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/fd.hpp"

namespace landtrace::cli {
namespace {

template <typename T>
bool read_at(const Fd& file, T& value, std::uint64_t offset) {
  return ::pread(file.get(), &value, sizeof value, static_cast<off_t>(offset)) == static_cast<ssize_t>(sizeof value);
}

// The segments of an ELF file; none for another.
std::vector<Elf64_Phdr> segments_of(const Fd& file, Elf64_Ehdr& header) {
  if (!file || !read_at(file, header, 0) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr)) {
    return {};
  }
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    if (!read_at(file, segments[i], header.e_phoff + i * sizeof(Elf64_Phdr))) return {};
  }
  return segments;
}

// Programs, unlike libraries, say that they are some: at fixed addresses by the kind of file, others by a flag.
bool says_that_it_is_program(const Fd& file, const Elf64_Ehdr& header, const std::vector<Elf64_Phdr>& segments) {
  if (header.e_type == ET_EXEC) return true;
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_DYNAMIC) continue;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= segment.p_filesz; at += sizeof(Elf64_Dyn)) {
      Elf64_Dyn entry;
      if (!read_at(file, entry, segment.p_offset + at) || entry.d_tag == DT_NULL) return false;
      if (entry.d_tag == DT_FLAGS_1) return (entry.d_un.d_val & DF_1_PIE) != 0;
    }
  }
  return false;
}

Fd open_for_reading(const std::string& path) { return Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)); }

bool has_interpreter(const std::vector<Elf64_Phdr>& segments) {
  return std::any_of(segments.begin(), segments.end(), [](const auto& segment) { return segment.p_type == PT_INTERP; });
}

}  // namespace

std::string path_of_program(const std::string& program) {
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

bool is_static_program(const std::string& program) {
  Elf64_Ehdr header;
  const std::vector<Elf64_Phdr> segments = segments_of(open_for_reading(path_of_program(program)), header);
  return !segments.empty() && !has_interpreter(segments);
}

bool is_static_object(const std::string& path) {
  const Fd file = open_for_reading(path);
  Elf64_Ehdr header;
  const std::vector<Elf64_Phdr> segments = segments_of(file, header);
  return !segments.empty() && !has_interpreter(segments) && says_that_it_is_program(file, header, segments);
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
