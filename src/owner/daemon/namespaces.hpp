// The namespaces of other processes, compared with this one's.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace landtrace::daemon {

// Ids [inside, inside + count) of a user namespace are [outside, …) of this process's.
struct IdRange {
  std::uint32_t inside, outside, count;
};

// The text of a uid_map or gid_map. EINVAL.
Result<std::vector<IdRange>> parse_id_map(std::string_view text);
// `kind` is "uid_map" or "gid_map". Empty where the process has the same ids as this one. Anybody may see it.
Result<std::vector<IdRange>> id_map_of(std::uint32_t pid, const char* kind);
// What `outside` is called inside; itself without a map, the overflow id where it has no name.
std::uint32_t inside_id(const std::vector<IdRange>& map, std::uint32_t outside);

// Whether the process is known by this pid only: it is in the pid namespace of this process's /proc. Anybody may see it.
Result<bool> shares_pids(std::uint32_t pid);
// Whether the process is in this one's mount namespace. EACCES for whom this process could not trace.
Result<bool> shares_mounts(std::uint32_t pid);

}  // namespace landtrace::daemon
