// The key of an entry as the hist file shows it: "{ id:          1, name: abc }".
#pragma once

#include "domain/histograms/rows.hpp"

namespace landtrace::domain {

std::string key_text(const Histogram& histogram, std::span<const std::byte> key, const std::string& comm,
                     AddressNames& names);

// Where the parts of a key begin in its bytes.
std::vector<std::uint32_t> key_offsets(const Histogram& histogram);
std::uint64_t number_at(std::span<const std::byte> key, std::uint32_t offset);

}  // namespace landtrace::domain
