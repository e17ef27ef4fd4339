// Unwind tables as bytes at addresses of the program that they describe, read with every access checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace landtrace::unwind {

// `data` holds what the program has at [address, address + size); in the program itself it is that memory.
struct ByteRange {
  std::uint64_t address = 0;
  const std::byte* data = nullptr;
  std::uint64_t size = 0;

  [[nodiscard]] bool holds(std::uint64_t at) const { return at - address < size; }
};

// The parts of an object in which its tables are.
struct Tables {
  static constexpr unsigned kMaxRanges = 4;
  ByteRange ranges[kMaxRanges];
  unsigned count = 0;
  std::uint64_t header = 0;  // address of .eh_frame_hdr; 0: the object has none

  [[nodiscard]] const ByteRange* range_of(std::uint64_t address) const {
    for (unsigned i = 0; i < count; ++i) {
      if (ranges[i].holds(address)) return &ranges[i];
    }
    return nullptr;
  }
};

// Reads on from a place. Past the end everything is 0, and ok() false from then on.
class Cursor {
 public:
  Cursor() = default;
  Cursor(const Tables& tables, std::uint64_t address) {
    const ByteRange* const range = tables.range_of(address);
    if (range == nullptr) return;
    base_ = range->address;
    data_ = range->data;
    at_ = address - base_;
    end_ = range->size;
    ok_ = true;
  }

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return !ok_ || at_ >= end_; }
  [[nodiscard]] std::uint64_t address() const { return base_ + at_; }
  // left() bytes.
  [[nodiscard]] const std::byte* rest() const { return data_ + at_; }
  [[nodiscard]] std::uint64_t left() const { return ok_ ? end_ - at_ : 0; }

  // The next `size` bytes become the end.
  void limit(std::uint64_t size) {
    if (size > left()) {
      ok_ = false;
    } else {
      end_ = at_ + size;
    }
  }
  void skip(std::uint64_t size) {
    if (size > left()) {
      ok_ = false;
    } else {
      at_ += size;
    }
  }
  // To anywhere in [at, end) or the end itself; also backwards.
  void jump(std::int64_t by) {
    const std::uint64_t to = at_ + static_cast<std::uint64_t>(by);
    if (to > end_) {
      ok_ = false;
    } else {
      at_ = to;
    }
  }

  template <typename T>
  T take() {
    T value{};
    if (sizeof value > left()) {
      ok_ = false;
      return value;
    }
    std::memcpy(&value, data_ + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::uint64_t uleb();
  std::int64_t sleb();
  // As DW_EH_PE_* says, without following an indirection. `data_base` is for addresses relative to the header.
  std::uint64_t pointer(std::uint8_t encoding, std::uint64_t data_base = 0);

 private:
  std::uint64_t base_ = 0;
  const std::byte* data_ = nullptr;
  std::uint64_t at_ = 0;
  std::uint64_t end_ = 0;
  bool ok_ = false;
};

inline constexpr std::uint8_t kPointerOmitted = 0xff;

}  // namespace landtrace::unwind
