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
// `kind` is "uid_map" or "gid_map". Empty: the process has the same ids as this one. Every process may read it.
Result<std::vector<IdRange>> id_map_of(std::uint32_t pid, const char* kind);
// The id inside that stands for `outside`. Without a map it is the same; an id that is not mapped is the overflow id.
std::uint32_t inside_id(const std::vector<IdRange>& map, std::uint32_t outside);

// Whether the process has no pid but this one: it is in the pid namespace of this process's /proc. Every process may
// read that.
Result<bool> shares_pids(std::uint32_t pid);
// Whether the process is in this one's mount namespace. EACCES: this process could not trace it.
Result<bool> shares_mounts(std::uint32_t pid);

}  // namespace landtrace::daemon
