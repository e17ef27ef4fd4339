// What the bits of a gfp_t are called, by Linux 6.12.
#pragma once

#include <cstdint>
#include <string>

namespace landtrace::event {

// "GFP_KERNEL|__GFP_ZERO"; bits without a name as one number.
std::string gfp_flags_text(std::uint64_t flags);

}  // namespace landtrace::event
