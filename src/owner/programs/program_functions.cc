#include "programs/program_functions.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/fd.hpp"
#include "programs/memory_map.hpp"
#include "programs/object_files.hpp"
#include "programs/task.hpp"

namespace landtrace::programs {
namespace {

constexpr std::size_t kMaxMaps = 16u << 20;

// The mappings of files. Their paths are parts of `text`.
std::vector<Mapping> mappings_in(std::string_view text) {
  std::vector<Mapping> mappings;
  for (std::size_t end; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1)) {
    const auto mapping = parse_mapping(text.substr(0, end));
    if (mapping && !mapping->path.empty()) mappings.push_back(*mapping);
  }
  return mappings;
}

// "" if there is none, or it has ended.
std::string executable_of(std::uint32_t pid) {
  char path[4096];
  const ssize_t size = ::readlink(fmt::format("/proc/{}/exe", pid).c_str(), path, sizeof path);
  if (size <= 0 || static_cast<std::size_t>(size) == sizeof path) return {};
  return {path, static_cast<std::size_t>(size)};
}

}  // namespace

bool ProgramFunctions::is_ours(std::uint32_t pid) const { return user_of(pid) == owner_uid_; }

void ProgramFunctions::forget_ended() {
  std::erase_if(programs_, [](std::uint32_t pid) {
    struct stat st {};
    return ::stat(fmt::format("/proc/{}", pid).c_str(), &st) != 0;
  });
}

void ProgramFunctions::add(std::uint32_t pid) {
  programs_.insert(pid);
  if (programs_.size() < look_at_) return;
  forget_ended();
  look_at_ = std::max<std::size_t>(256, 2 * programs_.size());
}

std::vector<ProgramFunctions::Object> ProgramFunctions::objects_of(std::uint32_t pid) {
  const auto maps = read_file(fmt::format("/proc/{}/maps", pid), kMaxMaps);
  if (!maps) return {};  // the process has ended meanwhile
  const auto mappings = mappings_in(*maps);
  std::vector<Object> objects;
  for (std::size_t i = 0; i < mappings.size(); ++i) {
    const Mapping& first = mappings[i];
    // The mappings of an object stand one after the other; the one with the file's first byte says where it begins.
    if (first.offset != 0 || (i > 0 && mappings[i - 1].path == first.path)) continue;
    // Through the process's own root folder, which need not be ours: it may run in a container.
    Object object{fmt::format("/proc/{}/root{}", pid, first.path), {}, first.begin, first.end, 0};
    for (std::size_t j = i; j < mappings.size() && mappings[j].path == first.path; ++j) object.end = mappings[j].end;
    const auto file = symbols::ElfFile::open(object.path);
    const auto address = file ? file->first_address() : fail(ENOENT);
    if (!address) continue;
    object.bias = first.begin - *address;
    object.build_id = file->build_id();
    objects.push_back(std::move(object));
  }
  return objects;
}

std::vector<filter::FunctionRange> ProgramFunctions::find_in_all(const Find& find) {
  std::vector<filter::FunctionRange> all;
  forget_ended();
  for (const std::uint32_t pid : programs_) {
    if (!is_ours(pid)) continue;
    for (const Object& object : objects_of(pid)) {
      std::vector<symbols::AddressRange> found;
      find(object, found);
      for (const auto& range : found) all.push_back({pid, 0, range.begin + object.bias, range.end + object.bias});
    }
  }
  return all;
}

std::string ProgramFunctions::find_object(std::string_view name) {
  forget_ended();
  for (const std::uint32_t pid : programs_) {
    const auto maps = is_ours(pid) ? read_file(fmt::format("/proc/{}/maps", pid), kMaxMaps) : fail(ESRCH);
    if (!maps) continue;
    for (const Mapping& mapping : mappings_in(*maps)) {
      const std::string_view file = mapping.path.substr(mapping.path.rfind('/') + 1);
      if (mapping.path.starts_with('/') && is_object_called(file, name)) return std::string(mapping.path);
    }
  }
  return {};
}

std::vector<std::string> ProgramFunctions::executables(std::uint32_t first) {
  std::vector<std::string> paths;
  forget_ended();
  for (const std::uint32_t pid : programs_) {
    std::string path = is_ours(pid) ? executable_of(pid) : std::string();
    if (!path.empty() && std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(std::move(path));
  }
  const auto own = std::find(paths.begin(), paths.end(), executable_of(first));
  if (own != paths.end()) std::rotate(paths.begin(), own, own + 1);
  return paths;
}

std::vector<filter::FunctionRange> ProgramFunctions::named(std::string_view name) {
  return find_in_all([&](const Object& object, std::vector<symbols::AddressRange>& found) {
    found = symbols_.named(object.path, object.build_id, name);
  });
}

std::vector<filter::FunctionRange> ProgramFunctions::holding(std::uint64_t address) {
  return find_in_all([&](const Object& object, std::vector<symbols::AddressRange>& found) {
    if (address < object.begin || address >= object.end) return;
    if (const auto range = symbols_.holding(object.path, object.build_id, address - object.bias))
      found.push_back(*range);
  });
}

std::optional<symbols::Function> ProgramFunctions::at(std::uint64_t address) {
  std::optional<symbols::Function> function;
  find_in_all([&](const Object& object, std::vector<symbols::AddressRange>&) {
    if (function || address < object.begin || address >= object.end) return;
    // find() takes addresses to which a call returns, and looks one byte before. Here the address itself is meant.
    function = symbols_.find(object.path, object.build_id, address + 1 - object.bias);
    if (function) --function->offset;
  });
  return function;
}

}  // namespace landtrace::programs
