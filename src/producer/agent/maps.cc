#include "agent/maps.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

#include "agent/raw.hpp"

namespace landtrace::agent {
namespace {

// A jump of 32 bits, less what a recipe's other targets may lie away from the place.
constexpr std::uint64_t kReach = 0x7000'0000;
constexpr std::uint64_t kLowest = 0x1'0000;
// Heaps and stacks, which are not told where they end.
constexpr std::uint64_t kLeftToGrow = 16ull << 30;

// Empty where it cannot be read to its end.
std::string read_all(const char* path) {
  std::string text;
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return text;
  for (std::size_t size = 0;;) {
    text.resize(size + 65536);
    const ssize_t got = ::read(fd, text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    size = got < 0 ? 0 : size + static_cast<std::size_t>(got);
    text.resize(size);
    if (got <= 0) break;
  }
  ::close(fd);
  return text;
}

std::uint64_t take_number(std::string_view& line, int base) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number, base);
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  if (!line.empty()) line.remove_prefix(1);
  return number;
}

// BEGIN-END PERMISSIONS OFFSET MAJOR:MINOR INODE      PATH
Mapped parse(std::string_view line) {
  Mapped mapped;
  mapped.begin = take_number(line, 16);
  mapped.end = take_number(line, 16);
  mapped.protection = 0;
  if (line.size() < 5) return mapped;
  if (line[0] == 'r') mapped.protection |= PROT_READ;
  if (line[1] == 'w') mapped.protection |= PROT_WRITE;
  if (line[2] == 'x') mapped.protection |= PROT_EXEC;
  line.remove_prefix(5);
  mapped.offset = take_number(line, 16);
  take_number(line, 16);
  take_number(line, 16);
  mapped.inode = take_number(line, 10);
  const std::size_t path = line.find_first_not_of(' ');
  if (path != std::string_view::npos) mapped.path = line.substr(path);
  return mapped;
}

// By a call that reads a set of signals there, and changes nothing.
bool is_readable(std::uint64_t address) {
  constexpr int kNoSuchHow = -1;
  constexpr long kInvalid = -22;
  constexpr std::uint64_t kSetSize = 8;  // what lies at a multiple of it is in one page
  return raw(SYS_rt_sigprocmask, kNoSuchHow, static_cast<long>(address & ~(kSetSize - 1)), 0, kSetSize) == kInvalid;
}

}  // namespace

// In the own process, by the kernel. As the thread's: the process's first one may have ended.
bool read_memory(std::uint64_t address, void* to, std::size_t size) {
  iovec here = {to, size};
  iovec there = {reinterpret_cast<void*>(address), size};
  const long got = raw(SYS_process_vm_readv, raw(SYS_gettid), raw_address(&here), 1, raw_address(&there), 1, 0);
  if (got == static_cast<long>(size)) return true;
  constexpr long kBadAddress = -14;
  if (got >= 0 || got == kBadAddress) return false;
  // The call is not allowed.
  if (!is_readable(address) || !is_readable(address + size - 1)) return false;
  std::memcpy(to, reinterpret_cast<const void*>(address), size);
  return true;
}

namespace {

bool is_stack(const Mapped& mapped) { return mapped.path == "[stack]"; }
bool is_heap(const Mapped& mapped) { return mapped.path == "[heap]"; }

bool find_build_id(const std::uint8_t* notes, std::size_t end, ObjectId& id) {
  Elf64_Nhdr note;
  for (std::size_t at = 0; at + sizeof note <= end;) {
    std::memcpy(&note, notes + at, sizeof note);
    const std::size_t name = at + sizeof note;
    const std::size_t description = name + ((note.n_namesz + 3ull) & ~3ull);
    const std::size_t next = description + ((note.n_descsz + 3ull) & ~3ull);
    if (next > end) return false;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && note.n_descsz <= sizeof id.build_id &&
        std::memcmp(notes + name, "GNU", 4) == 0) {
      id.build_id_size = note.n_descsz;
      std::memcpy(id.build_id, notes + description, note.n_descsz);
      return true;
    }
    at = next;
  }
  return false;
}

// The build id in the notes of an object whose first page lies here. By the kernel: another thread may unmap the object
// meanwhile, and a file may have been cut off.
void read_build_id(std::uint64_t base, std::uint64_t size, ObjectId& id) {
  constexpr std::size_t kMostSegments = 64;
  constexpr std::size_t kMostNotes = 4096;
  Elf64_Ehdr header;
  Elf64_Phdr segments[kMostSegments];
  if (size < sizeof header || !read_memory(base, &header, sizeof header)) return;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof segments[0]) return;
  if (header.e_phoff > size || header.e_phnum > (size - header.e_phoff) / sizeof segments[0]) return;
  const std::size_t count = std::min<std::size_t>(header.e_phnum, kMostSegments);
  if (!read_memory(base + header.e_phoff, segments, count * sizeof segments[0])) return;
  for (std::size_t i = 0; i < count; ++i) {
    const Elf64_Phdr& segment = segments[i];
    if (segment.p_type != PT_NOTE || segment.p_offset > size || segment.p_filesz > size - segment.p_offset) continue;
    std::uint8_t notes[kMostNotes];
    const std::size_t end = std::min<std::size_t>(segment.p_filesz, sizeof notes);
    if (read_memory(base + segment.p_offset, notes, end) && find_build_id(notes, end, id)) return;
  }
}

bool is_same(const ObjectId& wanted, const ObjectId& file) {
  if (wanted.inode != 0 && wanted.inode == file.inode && wanted.device == file.device) return true;
  return wanted.build_id_size != 0 && wanted.build_id_size == file.build_id_size &&
         std::memcmp(wanted.build_id, file.build_id, wanted.build_id_size) == 0;
}

}  // namespace

std::vector<Mapped> parse_maps(std::string_view text) {
  std::vector<Mapped> maps;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    Mapped mapped = parse(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::uint64_t told = maps.empty() ? 0 : maps.back().end;
    if (mapped.end <= told) continue;
    if (mapped.begin < told) mapped.offset += told - std::exchange(mapped.begin, told);
    maps.push_back(std::move(mapped));
  }
  return maps;
}

std::vector<Mapped> read_maps() {
  std::string text = read_all("/proc/self/maps");
  // Of a program whose first thread has ended that is empty.
  if (text.empty()) text = read_all("/proc/thread-self/maps");
  return parse_maps(text);
}

const Mapped* find(const std::vector<Mapped>& maps, std::uint64_t address) {
  auto above = std::upper_bound(maps.begin(), maps.end(), address,
                                [](std::uint64_t at, const Mapped& mapped) { return at < mapped.begin; });
  if (above == maps.begin()) return nullptr;
  --above;
  return above->holds(address) ? &*above : nullptr;
}

std::uint64_t find_room(const std::vector<Mapped>& maps, std::uint64_t place, std::uint64_t size) {
  std::uint64_t best = 0;
  std::uint64_t best_distance = kReach;
  std::uint64_t begin = kLowest;
  const auto offer = [&](std::uint64_t at) {
    const std::uint64_t distance = at < place ? place - at : at + size - place;
    if (distance < best_distance) {
      best = at;
      best_distance = distance;
    }
  };
  const Mapped* below = nullptr;
  for (const Mapped& mapped : maps) {
    const std::uint64_t room = mapped.begin > begin ? mapped.begin - begin : 0;
    // What grows into the gap is left so much of it.
    const bool under_stack = is_stack(mapped);
    const bool over_heap = below != nullptr && is_heap(*below);
    if (room >= size + (under_stack || over_heap ? kLeftToGrow : 0)) {
      if (!under_stack) offer(mapped.begin - size);
      if (!over_heap) offer(begin);
    }
    begin = std::max(begin, mapped.end);
    below = &mapped;
  }
  return best;
}

void Objects::read() {
  // Without a free descriptor, or /proc, nobody can say what has changed.
  if (std::vector<Mapped> now = read_maps(); !now.empty()) maps_ = std::move(now);
  // An inode may be another file by the next time.
  files_.clear();
}

const Objects::File& Objects::file_of(const Mapped& mapped) {
  for (const File& file : files_) {
    if (file.path == mapped.path) return file;
  }
  File file;
  file.path = mapped.path;
  struct stat status;
  // Of a file that was replaced since, the path ends with "(deleted)". Which inode the map shows may be another one,
  // as on overlays.
  if (::stat(mapped.path.c_str(), &status) == 0) {
    file.id.device = status.st_dev;
    file.id.inode = status.st_ino;
  }
  for (const Mapped& other : maps_) {
    if (other.offset != 0 || other.path != mapped.path || (other.protection & PROT_READ) == 0) continue;
    file.base = other.begin;
    read_build_id(other.begin, other.end - other.begin, file.id);
    break;
  }
  files_.push_back(file);
  return files_.back();
}

void Objects::find(const ObjectId& object, std::uint64_t offset, std::vector<std::uint64_t>& addresses) {
  for (const Mapped& mapped : maps_) {
    if ((mapped.protection & PROT_EXEC) == 0 || mapped.path.empty() || mapped.path[0] != '/') continue;
    if (offset < mapped.offset || offset - mapped.offset >= mapped.end - mapped.begin) continue;
    if (is_same(object, file_of(mapped).id)) addresses.push_back(mapped.begin + (offset - mapped.offset));
  }
}

}  // namespace landtrace::agent
