// What the first word of a probe's command says: [GROUP/]EVENT or [GROUP.]EVENT. Internal to language.
#pragma once

#include <optional>
#include <string_view>
#include <tl/expected.hpp>

namespace landtrace::language {

inline constexpr std::size_t kMaxProbeName = 64;  // with the NUL that the kernel puts behind it

struct ProbeNameRefusal {
  std::string_view what;
  std::size_t offset;
};
struct ProbeNames {
  std::optional<std::string_view> group;
  std::optional<std::string_view> event;
};

// Without an event there is a group.
tl::expected<ProbeNames, ProbeNameRefusal> split_probe_names(std::string_view text);

}  // namespace landtrace::language
