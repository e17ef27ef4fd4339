// What distributions keep apart from a program: its symbols, in a file that is found by the program's build id, or by
// the name in its .gnu_debuglink.
#pragma once

#include <optional>
#include <string>

#include "symbols/elf_file.hpp"

namespace landtrace::symbols {

// Where separate debug files are.
inline constexpr const char* kDebugFolder = "/usr/lib/debug";

// FOLDER/.build-id/xx/yyyy….debug, if it is there and has that build id.
std::optional<ElfFile> open_debug_file(const std::string& folder, const std::string& build_id);

// The same for the file at `path`, or else what its .gnu_debuglink names: beside it, in .debug there, in FOLDER under
// its own path. It has the same build id, or the checksum that the link tells. Whatever the link says, nothing is
// opened but regular files in these folders.
std::optional<ElfFile> find_debug_file(const ElfFile& file, const std::string& path, const std::string& folder);

// Bytes as hexadecimal digits.
std::string in_hex(std::string_view bytes);

}  // namespace landtrace::symbols
