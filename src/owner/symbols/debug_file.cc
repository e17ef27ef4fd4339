#include "symbols/debug_file.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <vector>

#include "symbols/regular_file.hpp"

namespace landtrace::symbols {
namespace {

constexpr std::uint64_t kMaxLinkBytes = 4096;
constexpr std::uint64_t kMaxChecked = 1ull << 30;
constexpr std::string_view kById = ".build-id/";

struct Link {
  std::string name;
  std::uint32_t checksum;
};

// The file's name, filled up to a multiple of 4, and the checksum of the file.
std::optional<Link> link_of(const ElfFile& file) {
  const std::vector<std::string> names = file.section_names();
  const auto found = std::find(names.begin(), names.end(), ".gnu_debuglink");
  if (found == names.end()) return std::nullopt;
  const auto bytes = file.contents(file.sections()[static_cast<std::size_t>(found - names.begin())], kMaxLinkBytes);
  if (!bytes || bytes->size() < sizeof(std::uint32_t)) return std::nullopt;
  Link link{bytes->substr(0, bytes->find('\0')), 0};
  const bool is_name =
      !link.name.empty() && link.name.find('/') == std::string::npos && link.name != "." && link.name != "..";
  if (!is_name || link.name.size() > bytes->size() - sizeof link.checksum) return std::nullopt;
  std::memcpy(&link.checksum, bytes->data() + bytes->size() - sizeof link.checksum, sizeof link.checksum);
  return link;
}

// A regular file that lies under the folder, whatever symbolic links there are.
Fd open_beneath(const std::string& folder, const std::string& path) {
  const Fd root(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) return {};
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  Fd found(static_cast<int>(::syscall(SYS_openat2, root.get(), path.c_str(), &how, sizeof how)));
  // Older systems, and some sandboxes. A name that is made of a build id leads nowhere else.
  const bool is_unknown = !found && (errno == ENOSYS || errno == EPERM) && path.starts_with(kById);
  if (is_unknown) found = Fd(::openat(root.get(), path.c_str(), O_PATH | O_CLOEXEC));
  if (!found) return {};
  auto fd = open_regular_file(found, path);
  return fd ? *std::move(fd) : Fd();
}

constexpr std::array<std::uint32_t, 256> make_checksums() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xedb88320u : 0u);
    table[i] = value;
  }
  return table;
}

bool has_checksum(const ElfFile& file, std::uint32_t checksum) {
  static constexpr std::array<std::uint32_t, 256> kTable = make_checksums();
  if (file.size() > kMaxChecked) return false;
  std::vector<unsigned char> part(1u << 16);
  std::uint32_t value = ~0u;
  for (std::uint64_t at = 0; at < file.size(); at += part.size()) {
    part.resize(std::min<std::uint64_t>(part.size(), file.size() - at));
    if (!file.read(at, std::as_writable_bytes(std::span(part)))) return false;
    for (const unsigned char byte : part) value = (value >> 8) ^ kTable[(value ^ byte) & 0xff];
  }
  return ~value == checksum;
}

std::optional<ElfFile> open_linked(const ElfFile& file, const Link& link, const std::string& folder,
                                   const std::string& path) {
  Fd fd = open_beneath(folder, path);
  if (!fd) return std::nullopt;
  auto debug = ElfFile::open(std::move(fd), path);
  if (!debug) return std::nullopt;
  const std::string id = file.build_id();
  const bool is_its = id.empty() ? has_checksum(*debug, link.checksum) : debug->build_id() == id;
  if (!is_its) return std::nullopt;
  return *std::move(debug);
}

}  // namespace

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
  Fd fd = open_beneath(folder, std::string(kById) + id.substr(0, 2) + "/" + id.substr(2) + ".debug");
  if (!fd) return std::nullopt;
  auto file = ElfFile::open(std::move(fd), id);
  if (!file || file->build_id() != build_id) return std::nullopt;
  return *std::move(file);
}

std::optional<ElfFile> find_debug_file(const ElfFile& file, const std::string& path, const std::string& folder) {
  if (auto by_id = open_debug_file(folder, file.build_id())) return by_id;
  const auto link = link_of(file);
  const std::size_t slash = path.rfind('/');
  if (!link || slash == std::string::npos) return std::nullopt;
  const std::string own = path.substr(0, slash + 1);
  if (auto debug = open_linked(file, *link, own, link->name)) return debug;
  if (auto debug = open_linked(file, *link, own, ".debug/" + link->name)) return debug;
  if (auto debug = open_linked(file, *link, folder, own.substr(1) + link->name)) return debug;
  // "/lib" may lead to "/usr/lib".
  std::error_code error;
  const std::string real = std::filesystem::canonical(own, error).string();
  return error ? std::nullopt : open_linked(file, *link, folder, real.substr(1) + "/" + link->name);
}

}  // namespace landtrace::symbols
