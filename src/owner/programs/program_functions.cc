#include "programs/program_functions.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <sstream>

#include "base/fd.hpp"

namespace landtrace::programs {
namespace {

constexpr std::size_t kMaxMaps = 16u << 20;

struct Mapping {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t offset;
  std::string path;
};

// The files that a process has mapped, a line each.
std::vector<Mapping> mappings_of(std::uint32_t pid) {
  const auto text = read_file(fmt::format("/proc/{}/maps", pid), kMaxMaps);
  std::vector<Mapping> mappings;
  if (!text) return mappings;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    Mapping mapping;
    const auto path = line.find('/');
    const bool read = std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &mapping.begin, &mapping.end,
                                  &mapping.offset) == 3;
    if (!read || path == std::string::npos) continue;
    mapping.path = line.substr(path);
    mappings.push_back(std::move(mapping));
  }
  return mappings;
}

}  // namespace

bool ProgramFunctions::is_ours(std::uint32_t pid) const {
  struct stat st {};
  return ::stat(fmt::format("/proc/{}", pid).c_str(), &st) == 0 && st.st_uid == owner_uid_;
}

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

std::vector<filter::FunctionRange> ProgramFunctions::find_in_all(const Find& find) {
  std::vector<filter::FunctionRange> all;
  forget_ended();
  for (const std::uint32_t pid : programs_) {
    if (!is_ours(pid)) continue;
    const auto mappings = mappings_of(pid);
    for (std::size_t i = 0; i < mappings.size(); ++i) {
      const Mapping& first = mappings[i];
      if (first.offset != 0 || (i > 0 && mappings[i - 1].path == first.path)) continue;
      Object object{fmt::format("/proc/{}/root{}", pid, first.path), {}, first.begin, first.end, 0};
      for (std::size_t j = i; j < mappings.size() && mappings[j].path == first.path; ++j) object.end = mappings[j].end;
      const auto file = symbols::ElfFile::open(object.path);
      const auto address = file ? file->first_address() : fail(ENOENT);
      if (!address) continue;
      object.bias = first.begin - *address;
      object.build_id = file->build_id();
      std::vector<symbols::AddressRange> found;
      find(object, found);
      for (const auto& range : found) all.push_back({pid, 0, range.begin + object.bias, range.end + object.bias});
    }
  }
  return all;
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
    // As if a call before the next byte returned there: the address itself is meant.
    function = symbols_.find(object.path, object.build_id, address + 1 - object.bias);
    if (function) --function->offset;
  });
  return function;
}

}  // namespace landtrace::programs
