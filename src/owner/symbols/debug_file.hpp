// What distributions keep apart from a program: its symbols, in a file that is found by the program's build id.
#pragma once

#include <optional>
#include <string>

#include "symbols/elf_file.hpp"

namespace landtrace::symbols {

// FOLDER/.build-id/xx/yyyy….debug, if it is there and has that build id.
std::optional<ElfFile> open_debug_file(const std::string& folder, const std::string& build_id);

// Bytes as hexadecimal digits.
std::string in_hex(std::string_view bytes);

}  // namespace landtrace::symbols
