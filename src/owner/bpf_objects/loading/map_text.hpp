// Maps and records as text.
#pragma once

#include <bpf/btf.h>

#include <string>
#include <string_view>

#include "bpf_calls/objects.hpp"

namespace landtrace::loading {

// A map's elements, sorted by key, under its name. Types are BTF's; 0: numbers by their size.
std::string map_text(const bpf_calls::Object& map, const char* name, const btf* types, unsigned key_type,
                     unsigned value_type);

// A ring buffer's record: as the struct of the object that has this size, if there is just one such; else its bytes.
std::string record_json(const btf* types, const std::byte* data, std::uint32_t size);

}  // namespace landtrace::loading
