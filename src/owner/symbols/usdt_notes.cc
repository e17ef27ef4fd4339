#include "symbols/usdt_notes.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

namespace landtrace::symbols {
namespace {

constexpr std::uint64_t kMaxBytes = 64u << 20;  // of one section
constexpr std::size_t kMaxNotes = 200'000;
constexpr std::size_t kLongestUsdtName = 256;
constexpr std::size_t kLongestArguments = 4096;
constexpr std::uint32_t kUsdt = 3;  // NT_STAPSDT
constexpr std::string_view kOwner("stapsdt\0", 8);

// What a note's body begins with.
struct Addresses {
  std::uint64_t place;
  std::uint64_t base;
  std::uint64_t counter;
};

std::uint64_t aligned(std::uint32_t size) { return (std::uint64_t{size} + 3) & ~3ull; }

// Where an address lies among what is loaded; nullptr: nowhere. `flags`: what the segment has to have.
const Elf64_Phdr* segment_of(const std::vector<Elf64_Phdr>& segments, std::uint64_t address, std::uint32_t flags) {
  const auto found = std::find_if(segments.begin(), segments.end(), [&](const Elf64_Phdr& segment) {
    return segment.p_type == PT_LOAD && (segment.p_flags & flags) == flags && address >= segment.p_vaddr &&
           address - segment.p_vaddr < segment.p_memsz;
  });
  return found == segments.end() ? nullptr : &*found;
}

std::optional<std::uint64_t> offset_in(const Elf64_Phdr& segment, std::uint64_t address) {
  const std::uint64_t distance = address - segment.p_vaddr;
  if (distance >= segment.p_filesz || segment.p_offset > ~0ull - distance) return std::nullopt;
  return segment.p_offset + distance;
}

// Takes a text that ends with a NUL off the front.
std::optional<std::string_view> take_text(std::string_view& rest, std::size_t longest) {
  const std::size_t end = rest.find('\0');
  if (end == std::string_view::npos || end > longest) return std::nullopt;
  const std::string_view text = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return text;
}

class Notes {
 public:
  Notes(const std::vector<Elf64_Phdr>& segments, std::optional<std::uint64_t> base)
      : segments_(segments), base_(base) {}

  void add_all(const std::string& section) {
    for (std::size_t at = 0; section.size() - at >= sizeof(Elf64_Nhdr) && found_.size() < kMaxNotes;) {
      Elf64_Nhdr note;
      std::memcpy(&note, section.data() + at, sizeof note);
      at += sizeof note;
      const std::uint64_t name = aligned(note.n_namesz);
      const std::uint64_t body = aligned(note.n_descsz);
      // The last one's padding may be missing.
      if (name > section.size() - at || note.n_descsz > section.size() - at - name) return;
      const std::string_view owner = std::string_view(section).substr(at, note.n_namesz);
      if (note.n_type == kUsdt && owner == kOwner) add(std::string_view(section).substr(at + name, note.n_descsz));
      at += std::min<std::uint64_t>(name + body, section.size() - at);
    }
  }
  std::vector<UsdtNote> found() && { return std::move(found_); }

 private:
  void add(std::string_view body) {
    Addresses addresses;
    if (body.size() < sizeof addresses) return;
    std::memcpy(&addresses, body.data(), sizeof addresses);
    body.remove_prefix(sizeof addresses);
    const auto provider = take_text(body, kLongestUsdtName);
    const auto name = provider ? take_text(body, kLongestUsdtName) : std::nullopt;
    const auto arguments = name ? take_text(body, kLongestArguments) : std::nullopt;
    if (!arguments || provider->empty() || name->empty()) return;
    // prelink moves what is loaded, and leaves the notes as they are.
    const std::uint64_t moved = base_ ? *base_ - addresses.base : 0;
    UsdtNote note{std::string(*provider), std::string(*name), std::string(*arguments), addresses.place + moved};
    const Elf64_Phdr* const code = segment_of(segments_, note.address, PF_X);
    const auto offset = code == nullptr ? std::nullopt : offset_in(*code, note.address);
    if (!offset) return;
    note.offset = *offset;
    if (addresses.counter != 0) set_counter(note, addresses.counter + moved);
    found_.push_back(std::move(note));
  }
  void set_counter(UsdtNote& note, std::uint64_t address) const {
    note.counter = address;
    if (const Elf64_Phdr* const segment = segment_of(segments_, address, PF_W))
      note.counter_offset = offset_in(*segment, address).value_or(0);
  }

  const std::vector<Elf64_Phdr>& segments_;
  std::optional<std::uint64_t> base_;  // where .stapsdt.base is by now
  std::vector<UsdtNote> found_;
};

}  // namespace

std::vector<UsdtNote> read_usdt_notes(const ElfFile& file) {
  const auto segments = file.segments();
  if (!segments) return {};
  const std::vector<std::string> names = file.section_names();
  std::optional<std::uint64_t> base;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == ".stapsdt.base") base = file.sections()[i].sh_addr;
  }
  Notes notes(*segments, base);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] != ".note.stapsdt") continue;
    if (const auto section = file.contents(file.sections()[i], kMaxBytes)) notes.add_all(*section);
  }
  return std::move(notes).found();
}

}  // namespace landtrace::symbols
