#include "daemon/namespaces.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdio>

#include "base/fd.hpp"

namespace landtrace::daemon {
namespace {

constexpr std::uint32_t kAllIds = 0xffffffff;
constexpr std::uint32_t kOverflowId = 65534;

bool is_identity(const std::vector<IdRange>& map) {
  return map.size() == 1 && map[0].inside == map[0].outside && map[0].count == kAllIds;
}

}  // namespace

Result<std::vector<IdRange>> parse_id_map(std::string_view text) {
  std::vector<IdRange> map;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string line(text.substr(0, end));
    IdRange range{};
    if (std::sscanf(line.c_str(), "%u %u %u", &range.inside, &range.outside, &range.count) != 3) {
      return fail(EINVAL, "an invalid id map");
    }
    map.push_back(range);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  if (map.empty()) return fail(EINVAL, "an id map without ids");
  return map;
}

// The kernel writes the outer ids as the reader knows them. So a process in this namespace has the same text as this
// one, and so has any other whose map changes no id.
Result<std::vector<IdRange>> id_map_of(std::uint32_t pid, const char* kind) {
  LT_TRY(const std::string text, read_file(fmt::format("/proc/{}/{}", pid, kind)));
  LT_TRY(const std::string own, read_file(fmt::format("/proc/self/{}", kind)));
  if (text == own) return std::vector<IdRange>{};
  LT_TRY(std::vector<IdRange> map, parse_id_map(text));
  if (is_identity(map)) map.clear();
  return map;
}

std::uint32_t inside_id(const std::vector<IdRange>& map, std::uint32_t outside) {
  if (map.empty()) return outside;
  for (const IdRange& range : map) {
    if (outside >= range.outside && outside - range.outside < range.count) {
      return range.inside + (outside - range.outside);
    }
  }
  return kOverflowId;
}

// "NSpid:" and the process's pid in each of its pid namespaces, from that of /proc inwards.
Result<bool> shares_pids(std::uint32_t pid) {
  LT_TRY(const std::string text, read_file(fmt::format("/proc/{}/status", pid)));
  constexpr std::string_view kName = "\nNSpid:\t";
  const std::size_t at = text.find(kName);
  if (at == std::string::npos) return fail(ENOTSUP, "this kernel does not tell pid namespaces");
  const std::string_view line = std::string_view(text).substr(at + kName.size());
  return line.substr(0, line.find('\n')).find('\t') == std::string_view::npos;
}

Result<bool> shares_mounts(std::uint32_t pid) {
  struct stat theirs {
  }, ours{};
  const std::string path = fmt::format("/proc/{}/ns/mnt", pid);
  if (::stat(path.c_str(), &theirs) != 0) return fail_errno(path);
  if (::stat("/proc/self/ns/mnt", &ours) != 0) return fail_errno("/proc/self/ns/mnt");
  return theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino;
}

}  // namespace landtrace::daemon
