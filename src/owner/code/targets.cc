#include "code/targets.hpp"

#include <algorithm>
#include <bit>
#include <map>

namespace landtrace::code {
namespace {

// Reads `Entry`s one behind the other, as long as there are any in one segment.
template <typename Entry, typename Each>
void for_each_in(Reader& reader, const Image& image, std::uint64_t address, std::uint64_t size, const Each& each) {
  const Segment* const segment = image.segment_at(address);
  if (segment == nullptr) return;
  const std::uint64_t end = address + std::min(size, segment->end - address);
  Entry entry;
  for (; end - address >= sizeof entry && reader.read(address, entry); address += sizeof entry) {
    if (!each(entry)) return;
  }
}

std::map<std::int64_t, std::uint64_t> dynamic_values(Reader& reader, const Image& image) {
  std::map<std::int64_t, std::uint64_t> values;
  for_each_in<Elf64_Dyn>(reader, image, image.dynamic(), ~0ull, [&](const Elf64_Dyn& entry) {
    values.emplace(entry.d_tag, entry.d_un.d_val);
    return entry.d_tag != DT_NULL && values.size() < 256;
  });
  return values;
}

void add_relocated(Reader& reader, const Image& image, std::uint64_t address, std::uint64_t size, Targets& targets) {
  for_each_in<Elf64_Rela>(reader, image, address, size, [&](const Elf64_Rela& entry) {
    const auto type = ELF64_R_TYPE(entry.r_info);
    if (type == R_X86_64_RELATIVE || type == R_X86_64_IRELATIVE)
      targets.add_call(static_cast<std::uint64_t>(entry.r_addend));
    return true;
  });
}

void add_words(Reader& reader, const Image& image, Targets& targets) {
  for (const Segment& segment : image.segments()) {
    if (segment.is_code) continue;
    const std::uint64_t begin = (segment.begin + 7) & ~7ull;
    if (begin >= segment.end || begin < segment.begin) continue;
    for_each_in<std::uint64_t>(reader, image, begin, ~0ull, [&](std::uint64_t word) {
      targets.add_call(word);
      return true;
    });
  }
}

}  // namespace

Targets::Targets(const Image& image) {
  for (const Segment& segment : image.segments()) {
    if (!segment.is_code) continue;
    const std::size_t words = (segment.end - segment.begin + 63) / 64;
    parts_.push_back({segment.begin, segment.end, Bits(words), Bits(words)});
  }
}

void Targets::set(std::uint64_t address, Bits Part::*which) {
  for (Part& part : parts_) {
    if (address < part.begin || address >= part.end) continue;
    const std::uint64_t at = address - part.begin;
    (part.*which)[at / 64] |= 1ull << (at % 64);
  }
}

bool Targets::get(std::uint64_t address, Bits Part::*which) const {
  for (const Part& part : parts_) {
    if (address < part.begin || address >= part.end) continue;
    const std::uint64_t at = address - part.begin;
    return ((part.*which)[at / 64] >> (at % 64) & 1) != 0;
  }
  return false;
}

void add_known_to_data(Reader& reader, const Image& image, bool is_fixed, Targets& targets) {
  auto values = dynamic_values(reader, image);
  if (values.contains(DT_RELA)) add_relocated(reader, image, values[DT_RELA], values[DT_RELASZ], targets);
  if (values.contains(DT_JMPREL)) add_relocated(reader, image, values[DT_JMPREL], values[DT_PLTRELSZ], targets);
  // Packed relocations keep the addresses in the words themselves.
  constexpr std::int64_t kPacked = 36;  // DT_RELR
  if (is_fixed || values.contains(kPacked)) add_words(reader, image, targets);
}

}  // namespace landtrace::code
