#include "symbols/debug_file.hpp"

namespace landtrace::symbols {

std::string in_hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    text += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
    text += "0123456789abcdef"[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

std::optional<ElfFile> open_debug_file(const std::string& folder, const std::string& build_id) {
  if (build_id.size() < 2) return std::nullopt;
  const std::string id = in_hex(build_id);
  auto file = ElfFile::open(folder + "/.build-id/" + id.substr(0, 2) + "/" + id.substr(2) + ".debug");
  if (!file || file->build_id() != build_id) return std::nullopt;
  return *std::move(file);
}

}  // namespace landtrace::symbols
