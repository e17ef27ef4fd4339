#include "code/image.hpp"

#include <algorithm>

namespace landtrace::code {
namespace {

constexpr std::size_t kBuffer = 64u << 10;
constexpr std::size_t kMostAtOnce = 4096;

bool overlap(const Segment& a, const Segment& b) {
  const bool in_memory = a.begin < b.end && b.begin < a.end;
  const bool in_file = a.offset < b.offset + (b.end - b.begin) && b.offset < a.offset + (a.end - a.begin);
  return in_memory || in_file;
}

}  // namespace

Result<Image> Image::open(const symbols::ElfFile& file) {
  LT_TRY(const std::vector<Elf64_Phdr> headers, file.segments());
  Image image;
  for (const Elf64_Phdr& header : headers) {
    if (header.p_type == PT_DYNAMIC) image.dynamic_ = header.p_vaddr;
    if (header.p_type == PT_GNU_EH_FRAME) image.frame_index_ = header.p_vaddr;
    const bool is_there = header.p_type == PT_LOAD && header.p_filesz != 0 && header.p_offset <= file.size() &&
                          header.p_filesz <= file.size() - header.p_offset && header.p_vaddr <= ~0ull - header.p_filesz;
    if (!is_there) continue;
    const Segment segment{header.p_vaddr, header.p_vaddr + header.p_filesz, header.p_offset,
                          (header.p_flags & PF_X) != 0, (header.p_flags & PF_W) != 0};
    const auto overlaps = [&](const Segment& other) { return overlap(segment, other); };
    if (std::none_of(image.segments_.begin(), image.segments_.end(), overlaps)) image.segments_.push_back(segment);
    if (image.segments_.size() == 256) break;  // no linker makes so many
  }
  std::sort(image.segments_.begin(), image.segments_.end(),
            [](const Segment& a, const Segment& b) { return a.begin < b.begin; });
  return image;
}

const Segment* Image::segment_at(std::uint64_t address) const {
  for (const Segment& segment : segments_) {
    if (segment.holds(address)) return &segment;
  }
  return nullptr;
}

bool Image::is_code(std::uint64_t address) const {
  const Segment* const segment = segment_at(address);
  return segment != nullptr && segment->is_code;
}

const Segment* Image::code_at_offset(std::uint64_t offset) const {
  for (const Segment& segment : segments_) {
    if (segment.is_code && offset >= segment.offset && offset - segment.offset < segment.end - segment.begin)
      return &segment;
  }
  return nullptr;
}

std::uint64_t Image::offset_of(std::uint64_t address) const {
  const Segment* const segment = segment_at(address);
  return segment == nullptr ? 0 : address - segment->begin + segment->offset;
}

bool Reader::fill(std::uint64_t address) {
  const Segment* const segment = image_.segment_at(address);
  if (segment == nullptr) return false;
  buffer_.resize(std::min<std::uint64_t>(kBuffer, segment->end - address));
  begin_ = address;
  if (file_.read(segment->offset + (address - segment->begin), std::as_writable_bytes(std::span(buffer_)))) return true;
  buffer_.clear();
  return false;
}

Bytes Reader::at(std::uint64_t address, std::size_t want) {
  want = std::min(want, kMostAtOnce);
  const bool is_held = address >= begin_ && address - begin_ < buffer_.size();
  const bool is_whole = is_held && buffer_.size() - (address - begin_) >= want;
  if (!is_whole && !fill(address)) return {};
  const std::size_t at = address - begin_;
  return Bytes(buffer_).subspan(at, std::min(want, buffer_.size() - at));
}

}  // namespace landtrace::code
