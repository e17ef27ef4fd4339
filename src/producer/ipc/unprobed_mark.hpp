// A file beside a domain's socket that is there while somebody wants to know which programs probes cannot come to. The
// domain's programs add a line for each such program that they become or start: "static PATH", or "setuid PATH".
#pragma once

namespace landtrace::ipc {

inline constexpr char kUnprobedSuffix[] = ".unprobed";

}  // namespace landtrace::ipc
