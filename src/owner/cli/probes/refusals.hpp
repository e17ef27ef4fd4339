// What became of probes in programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace landtrace::cli {

// Lines such as "2 of 3 programs could not be probed at libc.so.6:malloc: …", of those programs that have the place and
// still run.
std::vector<std::string> refusal_texts(const std::vector<std::uint32_t>& pids);

// The same, without how many have the place, of all programs in which one of the events, SYSTEM:EVENT, could not be
// probed, as the domain's owner knows; also of programs that have ended. Not of `known`. And how often they were
// missed. For as long as the events are listened to.
std::vector<std::string> refusal_texts(const std::string& socket, const std::vector<std::string>& events,
                                       const std::vector<std::uint32_t>& known);

// Why nothing of CMD itself could be probed; "": it could.
std::string why_without_agent(const std::vector<std::string>& command);

}  // namespace landtrace::cli
