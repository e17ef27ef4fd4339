#include "cli/usual_rings.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>

#include "base/fd.hpp"

namespace landtrace::cli {
namespace {

constexpr std::uint64_t kLeast = 4u << 20;
constexpr std::uint64_t kMost = 32u << 20;
constexpr std::uint64_t kMostOfAll = 256u << 20;
constexpr std::uint64_t kPartOfMemory = 64;
constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

std::uint64_t machines_memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  return pages <= 0 || page <= 0 ? kNoLimit : static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
}

// "max", or no file: none.
std::uint64_t limit_in(const std::string& file) {
  const auto text = read_file(file);
  std::uint64_t limit = kNoLimit;
  if (text) std::from_chars(text->data(), text->data() + text->size(), limit);
  return limit;
}

// The group of version 2: "0::/user.slice/session-1.scope".
std::string own_group(const std::string& root) {
  const auto text = read_file(root + "/proc/self/cgroup");
  if (!text) return "/";
  constexpr std::string_view kVersion2 = "0::";
  const std::size_t begin = text->starts_with(kVersion2) ? 0 : text->find("\n0::");
  if (begin == std::string::npos) return "/";
  const std::size_t path = text->find("::", begin) + 2;
  return text->substr(path, text->find('\n', path) - path);
}

}  // namespace

std::uint64_t usual_ring_bytes(std::uint64_t cpus, std::uint64_t memory) {
  const std::uint64_t each = std::min(kMostOfAll, memory / kPartOfMemory) / std::max<std::uint64_t>(cpus, 1);
  return std::bit_floor(std::clamp(each, kLeast, kMost));
}

std::uint64_t usable_memory(const std::string& root) {
  std::uint64_t memory = machines_memory();
  std::string group = own_group(root);
  while (true) {
    memory = std::min(memory, limit_in(root + "/sys/fs/cgroup" + group + "/memory.max"));
    if (group.empty()) return memory;
    group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
}

consumer::Session::Options usual_rings() {
  const long cpus = ::sysconf(_SC_NPROCESSORS_CONF);
  return {.ring_bytes = usual_ring_bytes(cpus <= 0 ? 1 : static_cast<std::uint64_t>(cpus), usable_memory()),
          .least_ring_bytes = kLeast};
}

}  // namespace landtrace::cli
