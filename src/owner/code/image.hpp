// What an ELF file puts into memory: its segments, by the addresses of the file. Nothing of it is trusted.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "code/instruction.hpp"
#include "symbols/elf_file.hpp"

namespace landtrace::code {

struct Segment {
  std::uint64_t begin = 0;  // address
  std::uint64_t end = 0;    // of what the file has of it
  std::uint64_t offset = 0;
  bool is_code = false;
  bool is_writable = false;

  [[nodiscard]] bool holds(std::uint64_t address) const { return begin <= address && address < end; }
};

class Image {
 public:
  // Segments that overlap others, or lie outside of the file, are left out.
  static Result<Image> open(const symbols::ElfFile& file);

  [[nodiscard]] const std::vector<Segment>& segments() const { return segments_; }
  [[nodiscard]] const Segment* segment_at(std::uint64_t address) const;
  [[nodiscard]] bool is_code(std::uint64_t address) const;
  // The executable segment that has the file's byte.
  [[nodiscard]] const Segment* code_at_offset(std::uint64_t offset) const;
  [[nodiscard]] std::uint64_t offset_of(std::uint64_t address) const;  // `address` lies in a segment
  // Where PT_DYNAMIC and PT_GNU_EH_FRAME are; 0: there is none.
  [[nodiscard]] std::uint64_t dynamic() const { return dynamic_; }
  [[nodiscard]] std::uint64_t frame_index() const { return frame_index_; }

 private:
  std::vector<Segment> segments_;  // ascending
  std::uint64_t dynamic_ = 0;
  std::uint64_t frame_index_ = 0;
};

// Reads an image by address, through a buffer: cheap for what is read in ascending order.
class Reader {
 public:
  Reader(const symbols::ElfFile& file, const Image& image) : file_(file), image_(image) {}

  // At most `want` bytes, at most 4,096; fewer where the segment ends. Valid until the next call.
  Bytes at(std::uint64_t address, std::size_t want);
  template <typename T>
  bool read(std::uint64_t address, T& out) {
    const Bytes bytes = at(address, sizeof out);
    if (bytes.size() < sizeof out) return false;
    std::memcpy(&out, bytes.data(), sizeof out);
    return true;
  }

 private:
  bool fill(std::uint64_t address);

  const symbols::ElfFile& file_;
  const Image& image_;
  std::uint64_t begin_ = 0;
  std::vector<std::uint8_t> buffer_;
};

}  // namespace landtrace::code
