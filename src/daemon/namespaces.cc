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
      return fail(EINVAL, "an id map that is none");
    }
    map.push_back(range);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  if (map.empty()) return fail(EINVAL, "an id map without ids");
  return map;
}

// The kernel tells the ids outside as the reader knows them.
Result<std::vector<IdRange>> id_map_of(std::uint32_t pid, const char* kind) {
  LT_TRY(const bool same, shares_namespace(pid, "user"));
  if (same) return std::vector<IdRange>{};
  LT_TRY(const std::string text, read_file(fmt::format("/proc/{}/{}", pid, kind)));
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

Result<bool> shares_namespace(std::uint32_t pid, const char* kind) {
  struct stat theirs {
  }, ours{};
  const std::string path = fmt::format("/proc/{}/ns/{}", pid, kind);
  if (::stat(path.c_str(), &theirs) != 0) return fail_errno(path);
  if (::stat(fmt::format("/proc/self/ns/{}", kind).c_str(), &ours) != 0) return fail_errno("/proc/self/ns");
  return theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino;
}

}  // namespace landtrace::daemon
