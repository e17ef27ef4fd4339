#include "programs/object_files.hpp"

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <vector>

#include "base/fd.hpp"
#include "programs/assumed_identity.hpp"
#include "symbols/elf_file.hpp"
#include "symbols/regular_file.hpp"
#include "symbols/usdt_notes.hpp"

namespace landtrace::programs {
namespace {

constexpr std::chrono::seconds kFilePatience(5);
constexpr std::size_t kMostUsdtPlaces = 4096;  // of one name
// What may take longer than some 30 ms to look through, with its debug file.
constexpr std::uint64_t kLarge = 1u << 20;
constexpr std::chrono::seconds kStaysPrepared(1);
// For debugging information; less than that. What a guest has made takes the owner's time.
constexpr std::chrono::milliseconds kReaderPatience(4000), kReaderPatienceForGuests(1000);

struct OpenObject {
  Fd fd;
  ObjectFile file;

  // Whatever its path leads to by now, or for others.
  [[nodiscard]] std::string own_path() const { return fmt::format("/proc/self/fd/{}", fd.get()); }
};

std::string from_root(const Asker& asker, const std::string& path) {
  if (path.starts_with('/') || asker.tid == 0) return path;
  char folder[4096];
  const ssize_t size = ::readlink(fmt::format("/proc/{}/cwd", asker.tid).c_str(), folder, sizeof folder);
  if (size <= 0 || static_cast<std::size_t>(size) == sizeof folder) return path;
  return std::string(folder, static_cast<std::size_t>(size)) + "/" + path;
}

Result<OpenObject> open_object(const Asker& asker, const std::string& named) {
  const AssumedIdentity identity(asker.who);
  if (!identity.succeeded()) return fail(EPERM, "the owner cannot open it with the caller's rights");
  const std::string path = from_root(asker, named);
  LT_TRY(Fd fd, symbols::open_regular_file(path));
  struct stat st {};
  if (::fstat(fd.get(), &st) != 0) return fail(errno, path);
  OpenObject object{std::move(fd), {path, st.st_dev, st.st_ino, static_cast<std::uint64_t>(st.st_size), {}}};
  if (const auto elf = symbols::ElfFile::open(object.own_path())) object.file.build_id = elf->build_id();
  return object;
}

bool read_all(int fd, void* to, std::size_t size, std::uint64_t offset) {
  return ::pread(fd, to, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
}

// What is loaded of the file; nothing of one that is damaged.
std::vector<Elf64_Phdr> loaded_segments(int fd) {
  Elf64_Ehdr header;
  if (!read_all(fd, &header, sizeof header, 0) || header.e_phentsize != sizeof(Elf64_Phdr)) return {};
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  if (!read_all(fd, segments.data(), segments.size() * sizeof segments[0], header.e_phoff)) return {};
  std::erase_if(segments, [](const Elf64_Phdr& segment) { return segment.p_type != PT_LOAD; });
  return segments;
}

std::optional<std::uint64_t> address_of(const std::vector<Elf64_Phdr>& segments, std::uint64_t offset) {
  for (const Elf64_Phdr& segment : segments) {
    const bool has_it = offset >= segment.p_offset && offset - segment.p_offset < segment.p_filesz;
    if (has_it) return offset - segment.p_offset + segment.p_vaddr;
  }
  return std::nullopt;
}

// Those of the symbols that the file has, by one look at it.
using SymbolAddresses = std::map<std::string, std::optional<std::uint64_t>, std::less<>>;
void find_addresses(const symbols::ElfFile& elf, SymbolAddresses& wanted) {
  for (const std::uint32_t type : {SHT_SYMTAB, SHT_DYNSYM}) {
    const auto section = elf.symbols(type);
    for (const Elf64_Sym& symbol : section.symbols) {
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= section.names.size()) continue;
      std::string_view linked = std::string_view(section.names).substr(symbol.st_name);
      linked = linked.substr(0, linked.find('\0'));
      // The version of a library's symbol follows an @.
      const auto found = wanted.find(linked.substr(0, linked.find('@')));
      if (found != wanted.end() && !found->second) found->second = symbol.st_value;
    }
  }
}

std::optional<std::uint64_t> symbol_address(const symbols::ElfFile& elf, const std::string& name) {
  SymbolAddresses wanted{{name, std::nullopt}};
  find_addresses(elf, wanted);
  return wanted.begin()->second;
}

// What an operand says relative to a symbol is said relative to its place from here on.
void resolve(const symbols::ElfFile& elf, std::vector<language::UsdtPlace>& places,
             const std::vector<std::uint64_t>& addresses) {
  SymbolAddresses symbols;
  for (const auto& place : places) {
    for (const auto& operand : place.arguments) {
      if (!operand.symbol.empty()) symbols[operand.symbol];
    }
  }
  if (symbols.empty()) return;
  find_addresses(elf, symbols);
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (auto& operand : places[i].arguments) {
      if (operand.symbol.empty()) continue;
      const std::optional<std::uint64_t> address = symbols[operand.symbol];
      if (!address) operand.kind = language::UsdtOperand::Kind::kNoSymbol;
      operand.number += static_cast<std::int64_t>(address.value_or(0) - addresses[i]);
      operand.is_from_place = true;
    }
  }
}

std::vector<language::UsdtPlace> usdt_places(const symbols::ElfFile& elf, const std::string& provider,
                                             const std::string& name) {
  std::vector<language::UsdtPlace> places;
  std::vector<std::uint64_t> addresses;
  for (const symbols::UsdtNote& note : symbols::read_usdt_notes(elf)) {
    if (note.provider != provider || note.name != name) continue;
    language::UsdtPlace place{note.offset, 0, language::parse_usdt_operands(note.arguments)};
    if (note.counter != 0) place.counter = static_cast<std::int64_t>(note.counter - note.address);
    // Inlined twice into one function, say, it may be noted twice at one place.
    const auto is_same = [&](const language::UsdtPlace& other) { return other.offset == place.offset; };
    if (std::any_of(places.begin(), places.end(), is_same)) continue;
    places.push_back(std::move(place));
    addresses.push_back(note.address);
    if (places.size() == kMostUsdtPlaces) break;
  }
  resolve(elf, places, addresses);
  return places;
}

Result<std::vector<std::int64_t>> distances_to(const OpenObject& object, const std::string& name,
                                               const std::vector<std::uint64_t>& offsets) {
  LT_TRY(const symbols::ElfFile elf, symbols::ElfFile::open(object.own_path()));
  const auto symbol = symbol_address(elf, name);
  const std::vector<Elf64_Phdr> segments = loaded_segments(object.fd.get());
  std::vector<std::int64_t> distances;
  for (const std::uint64_t offset : offsets) {
    const auto from = address_of(segments, offset);
    if (!symbol || !from) return fail(ENOENT, fmt::format("no symbol {} in {}", name, object.file.path));
    distances.push_back(static_cast<std::int64_t>(*symbol - *from));
  }
  return distances;
}

// With the asker's rights, as separate debug files are looked for near the object.
KnownObjects::Read reading(const Asker& asker, const OpenObject& object) {
  return [&asker, &object]() -> Result<code::Object> {
    const AssumedIdentity identity(asker.who);
    if (!identity.succeeded()) return fail(EPERM, "the owner cannot read it with the caller's rights");
    Fd fd(::fcntl(object.fd.get(), F_DUPFD_CLOEXEC, 0));
    if (!fd) return fail(errno, object.file.path);
    return code::open_object(std::move(fd), object.file.path);
  };
}

KnownObjects::Key key_of(const Asker& asker, const OpenObject& object) { return {object.file.build_id, asker.who.uid}; }

Result<OpenObject> open_known(const Asker& asker, const std::string& path, const KnownObjects& known) {
  LT_TRY(OpenObject object, open_object(asker, path));
  object.file.analysis = known.analysis(key_of(asker, object));
  return object;
}

dwarf::Reader reader_of(const OpenObject& object, const Asker& asker) {
  const bool is_guest = asker.who.uid != 0 && asker.who.uid != ::geteuid();
  return {object.fd.get(),
          object.file.path,
          {asker.who.uid, asker.who.gid},
          is_guest ? kReaderPatienceForGuests : kReaderPatience};
}

std::vector<std::string> names_in(const std::string& folder, std::string_view start, std::string_view end) {
  std::vector<std::string> names;
  DIR* const open = ::opendir(folder.c_str());
  if (open == nullptr) return names;
  while (const dirent* const entry = ::readdir(open)) {
    const std::string_view name = entry->d_name;
    if (name.starts_with(start) && name.ends_with(end)) names.emplace_back(name);
  }
  ::closedir(open);
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> library_folders() {
#if defined(__x86_64__)
  constexpr const char* kMachine = "x86_64-linux-gnu";
#else
  constexpr const char* kMachine = "aarch64-linux-gnu";
#endif
  std::vector<std::string> folders{fmt::format("/lib/{}", kMachine),
                                   fmt::format("/usr/lib/{}", kMachine),
                                   "/lib64",
                                   "/usr/lib64",
                                   "/lib",
                                   "/usr/lib"};
  const std::string more = "/etc/ld.so.conf.d";
  for (const std::string& file : names_in(more, "", ".conf")) {
    const auto text = read_file(more + "/" + file, 64u << 10);
    if (!text) continue;
    std::string_view rest = *text;
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      if (line.starts_with('/')) folders.emplace_back(line);
    }
  }
  folders.emplace_back("/usr/local/lib");
  return folders;
}

bool is_object(const std::string& path) { return symbols::ElfFile::open(path).has_value(); }

}  // namespace

template <typename T>
Result<T> ObjectFiles::ask(std::function<Result<T>()> question) {
  const auto answer = std::make_shared<std::optional<Result<T>>>();
  if (!worker_.run([answer, question = std::move(question)] { answer->emplace(question()); }, kFilePatience)) {
    known_ = std::make_shared<KnownObjects>();  // that question has the others
    return fail(ETIMEDOUT, "the file's file system does not answer");
  }
  return *std::move(*answer);
}

bool ObjectFiles::prepare(const Asker& asker, std::string_view named) {
  const auto now = std::chrono::steady_clock::now();
  const bool is_fresh = prepared_ && now - prepared_->at < kStaysPrepared;
  if (is_fresh && prepared_->object == named && prepared_->uid == asker.who.uid) return true;
  const std::string path =
      named.find('/') == std::string_view::npos ? programs::find_object(named) : std::string(named);
  using Large = std::shared_ptr<OpenObject>;
  const auto large = ask<Large>([asker, path]() -> Result<Large> {
    LT_TRY(OpenObject object, open_object(asker, path));
    if (object.file.size < kLarge || object.file.build_id.empty()) return Large();
    return std::make_shared<OpenObject>(std::move(object));
  });
  if (large && *large) {
    const auto read = [asker, object = *large] { return reading(asker, *object)(); };
    if (!preparation_.is_ready(key_of(asker, **large), path, read, *known_)) return false;
  }
  prepared_ = {std::string(named), asker.who.uid, now};
  return true;
}

Result<ObjectFile> ObjectFiles::open(const Asker& asker, std::string_view path) {
  return ask<ObjectFile>([asker, path = std::string(path), known = known_]() -> Result<ObjectFile> {
    LT_TRY(OpenObject object, open_known(asker, path, *known));
    return std::move(object.file);
  });
}

Result<FunctionPlace> ObjectFiles::find_function(const Asker& asker, std::string_view path, std::string_view name) {
  return ask<FunctionPlace>(
      [asker, path = std::string(path), name = std::string(name), known = known_]() -> Result<FunctionPlace> {
        LT_TRY(OpenObject object, open_known(asker, path, *known));
        const auto read = known->object(key_of(asker, object), reading(asker, object));
        if (!read) return fail(ENOENT, fmt::format("no function {} in {}", name, path));
        LT_TRY(FunctionSpot spot, programs::find_function(**read, name));
        return FunctionPlace{std::move(object.file), std::move(spot)};
      });
}

Result<FunctionPlaces> ObjectFiles::find_functions(const Asker& asker, std::string_view path, std::string_view pattern,
                                                   bool are_returns, Named named) {
  return ask<FunctionPlaces>([asker, path = std::string(path), pattern = std::string(pattern), are_returns, named,
                              known = known_]() -> Result<FunctionPlaces> {
    LT_TRY(OpenObject object, open_object(asker, path));
    LT_TRY(const auto analysis, known->analysis(key_of(asker, object), path, reading(asker, object)));
    object.file.analysis = analysis;
    return FunctionPlaces{std::move(object.file), programs::find_functions(*analysis, pattern, are_returns, named)};
  });
}

Result<UsdtPlaces> ObjectFiles::find_usdt(const Asker& asker, std::string_view path, std::string_view provider,
                                          std::string_view name) {
  return ask<UsdtPlaces>([asker, path = std::string(path), provider = std::string(provider), name = std::string(name),
                          known = known_]() -> Result<UsdtPlaces> {
    LT_TRY(OpenObject object, open_known(asker, path, *known));
    UsdtPlaces found{std::move(object.file), {}};
    if (const auto elf = symbols::ElfFile::open(object.own_path())) found.places = usdt_places(*elf, provider, name);
    return found;
  });
}

Result<std::vector<std::int64_t>> ObjectFiles::find_symbol(const Asker& asker, std::string_view path,
                                                           std::string_view name,
                                                           const std::vector<std::uint64_t>& offsets) {
  using Distances = std::vector<std::int64_t>;
  return ask<Distances>([asker, path = std::string(path), name = std::string(name), offsets]() -> Result<Distances> {
    LT_TRY(const OpenObject object, open_object(asker, path));
    return distances_to(object, name, offsets);
  });
}

Result<std::vector<dwarf::NamedValues>> ObjectFiles::find_values(const Asker& asker, std::string_view path,
                                                                 std::uint64_t offset, bool is_return,
                                                                 const std::vector<std::string>& expressions) {
  using Values = std::vector<dwarf::NamedValues>;
  return ask<Values>([asker, path = std::string(path), offset, is_return, expressions]() -> Result<Values> {
    LT_TRY(const OpenObject object, open_object(asker, path));
    return reader_of(object, asker).values(offset, is_return, expressions);
  });
}

Result<ObjectFiles::Lines> ObjectFiles::find_line(const Asker& asker, std::string_view path, std::string_view file,
                                                  unsigned line) {
  return ask<Lines>(
      [asker, path = std::string(path), file = std::string(file), line, known = known_]() -> Result<Lines> {
        LT_TRY(OpenObject object, open_known(asker, path, *known));
        LT_TRY(dwarf::LinePlaces places, reader_of(object, asker).line(file, line));
        return Lines{std::move(object.file), std::move(places)};
      });
}

Result<std::string> ObjectFiles::why_no_function(const Asker& asker, std::string_view path, std::string_view name) {
  return ask<std::string>([asker, path = std::string(path), name = std::string(name)]() -> Result<std::string> {
    LT_TRY(const OpenObject object, open_object(asker, path));
    return reader_of(object, asker).why_no_function(name);
  });
}

bool is_object_called(std::string_view file, std::string_view name) {
  constexpr std::string_view kLibrary = ".so";
  if (!file.starts_with(name)) return false;
  const std::string_view rest = file.substr(name.size());
  if (name.ends_with(kLibrary)) return rest.empty() || rest.front() == '.';
  return rest.empty() || rest == kLibrary || rest.starts_with(".so.");
}

std::string find_object(std::string_view name) {
  constexpr std::array kProgramFolders{"/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"};
  if (name.empty() || name.find('/') != std::string_view::npos) return {};
  const std::vector<std::string> folders = library_folders();
  const auto in = [](const std::string& folder, std::string_view file) {
    std::string path = fmt::format("{}/{}", folder, file);
    return is_object(path) ? path : std::string();
  };
  for (const std::string& folder : folders) {
    if (std::string path = in(folder, name); !path.empty()) return path;
  }
  for (const std::string& folder : folders) {
    for (const std::string& file : names_in(folder, name, "")) {
      if (!is_object_called(file, name)) continue;
      if (std::string path = in(folder, file); !path.empty()) return path;
    }
  }
  for (const char* const folder : kProgramFolders) {
    if (std::string path = in(folder, name); !path.empty()) return path;
  }
  return {};
}

}  // namespace landtrace::programs
