#include "cli/usdt/objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/fd.hpp"
#include "cli/static_program.hpp"
#include "code/object_path.hpp"
#include "symbols/elf_file.hpp"

namespace landtrace::cli {
namespace {

constexpr std::size_t kMostObjects = 512;
constexpr std::uint64_t kMostDynamic = 1u << 20;
constexpr std::uint64_t kMostNames = 16u << 20;

// What an object says of the others that it needs.
struct Needed {
  std::vector<std::string> names;
  std::string folders;  // "$ORIGIN/../lib:/opt/lib"
};

Needed needed_of(const std::string& path) {
  Needed needed;
  const auto file = symbols::ElfFile::open(path);
  if (!file) return needed;
  for (const Elf64_Shdr& section : file->sections()) {
    if (section.sh_type != SHT_DYNAMIC || section.sh_link >= file->sections().size()) continue;
    const auto entries = file->contents(section, kMostDynamic);
    const auto names = file->contents(file->sections()[section.sh_link], kMostNames);
    if (!entries || !names) break;
    for (std::size_t at = 0; at + sizeof(Elf64_Dyn) <= entries->size(); at += sizeof(Elf64_Dyn)) {
      Elf64_Dyn entry;
      std::memcpy(&entry, entries->data() + at, sizeof entry);
      if (entry.d_un.d_val >= names->size()) continue;
      const char* const text = names->c_str() + entry.d_un.d_val;
      if (entry.d_tag == DT_NEEDED) needed.names.emplace_back(text);
      if (entry.d_tag == DT_RUNPATH || entry.d_tag == DT_RPATH) needed.folders = text;
    }
    break;
  }
  return needed;
}

std::string find_needed(const std::string& name, const std::string& user, const std::string& folders) {
  if (name.find('/') != std::string::npos) return name;
  std::istringstream rest(folders);
  for (std::string folder; std::getline(rest, folder, ':');) {
    const std::string origin = std::filesystem::path(user).parent_path().string();
    for (const std::string_view word : {"${ORIGIN}", "$ORIGIN"}) {
      if (const auto at = folder.find(word); at != std::string::npos) folder.replace(at, word.size(), origin);
    }
    std::error_code error;
    if (const std::string path = folder + "/" + name; std::filesystem::is_regular_file(path, error)) return path;
  }
  const auto path = code::object_path(name);
  return path ? *path : "";
}

// What a script's first line names; the script itself if it is none.
std::string interpreter_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char begin[2] = {};
  std::string line;
  if (!file.read(begin, sizeof begin) || begin[0] != '#' || begin[1] != '!' || !std::getline(file, line)) return path;
  std::istringstream words(line.substr(0, 256));
  std::string program;
  words >> program;
  const bool is_env = program.ends_with("/env");
  while (is_env && words >> program && (program.starts_with('-') || program.find('=') != std::string::npos)) {
  }
  return path_of_program(program);
}

}  // namespace

std::vector<std::string> objects_of_command(const std::string& program) {
  std::vector<std::string> objects;
  std::string path = path_of_program(program);
  for (int depth = 0; depth < 4 && !path.empty(); ++depth) {
    const std::string next = interpreter_of(path);
    if (next == path) break;
    path = next;
  }
  if (path.empty()) return objects;
  objects.push_back(path);
  for (std::size_t i = 0; i < objects.size() && objects.size() < kMostObjects; ++i) {
    const std::string user = objects[i];
    const Needed needed = needed_of(user);
    for (const std::string& name : needed.names) {
      const std::string found = find_needed(name, user, needed.folders);
      if (!found.empty() && std::find(objects.begin(), objects.end(), found) == objects.end()) objects.push_back(found);
    }
  }
  return objects;
}

Result<std::vector<std::string>> objects_of_process(std::uint32_t pid) {
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  if (!maps) return fail(ENOENT, fmt::format("there is no process {}, or it is another user's", pid));
  std::vector<std::string> objects;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::string range, rights, offset, device, inode, path;
    words >> range >> rights >> offset >> device >> inode;
    std::getline(words >> std::ws, path);
    if (rights.find('x') == std::string::npos || !path.starts_with('/')) continue;
    // By which it can be opened, whatever the process's root folder is.
    const std::string seen = fmt::format("/proc/{}/root{}", pid, path);
    std::error_code error;
    if (!std::filesystem::exists(path, error)) path = seen;
    if (std::find(objects.begin(), objects.end(), path) == objects.end()) objects.push_back(path);
  }
  return objects;
}

}  // namespace landtrace::cli
