// What became of probes in programs that run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace landtrace::cli {

// "libc.so.6:malloc", or "libc.so.6:0x1234" where no function begins there.
std::string place_text(const std::string& object, std::uint64_t offset);

// Lines such as "2 of 3 programs could not be probed at libc.so.6:malloc: …", of those programs that have the place.
std::vector<std::string> refusal_texts(const std::vector<std::uint32_t>& pids);

}  // namespace landtrace::cli
