// A payload being put together: the fixed part in words on the stack, dynamic data by reference. No API.
#pragma once

#include <sys/uio.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace landtrace::detail {

[[gnu::visibility("hidden")]] inline constexpr char kNul = '\0';

// `Fixed` bytes of fixed part, and up to `Vectors` pieces of dynamic data behind it.
//
// The fixed part is put together in whole words, with shifts where a field is narrower: the compiler keeps
// them in registers, and the ring write, which copies words, finds each stored at once. (A load that spans
// two smaller stores has to wait for both to reach the cache.)
template <std::size_t Fixed, std::size_t Vectors>
class Payload {
 public:
  template <std::size_t Offset, typename T>
  void put(const T& value) {
    put_pieces<Offset, 0>(value);
  }

  // Text shorter than the field is padded with NULs, longer text is cut.
  template <std::size_t Offset, std::size_t Size>
  void put_text(const char* text, std::size_t length) {
    if (length > 0) std::memcpy(bytes() + Offset, text, length < Size ? length : Size);
  }

  // The u32 at Offset says where the data is, from its own end on, and how much. `terminated` adds a NUL.
  template <std::size_t Offset>
  void put_dynamic(const void* data, std::size_t length, bool terminated) {
    const std::size_t size = length + (terminated ? 1 : 0);
    const std::size_t begin = size_ - Offset - sizeof(std::uint32_t);
    put<Offset>(static_cast<std::uint32_t>(size << 16 | (begin & 0xffff)));
    vectors_[count_++] = {const_cast<void*>(data), length};
    if (terminated) vectors_[count_++] = {const_cast<char*>(&kNul), 1};
    size_ = length > kTooLong ? kTooLong : size_ + size;
  }

  [[nodiscard]] const iovec* vectors() {
    vectors_[0] = {words_, Fixed};
    return vectors_;
  }
  [[nodiscard]] int count() const { return static_cast<int>(count_); }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t kTooLong = std::size_t{1} << 32;
  static constexpr std::size_t kWord = sizeof(std::uint64_t);
  static constexpr std::size_t kMostInWords = 64;  // larger values are copied

  [[nodiscard]] std::byte* bytes() { return reinterpret_cast<std::byte*>(words_); }

  template <std::size_t Offset, std::size_t Done, typename T>
  void put_pieces(const T& value) {
    if constexpr (sizeof(T) > kMostInWords || std::endian::native != std::endian::little) {
      std::memcpy(bytes() + Offset, &value, sizeof value);
    } else if constexpr (Done < sizeof(T)) {
      constexpr std::size_t kSize = sizeof(T) - Done < kWord ? sizeof(T) - Done : kWord;
      std::uint64_t piece = 0;
      std::memcpy(&piece, reinterpret_cast<const char*>(&value) + Done, kSize);
      put_piece<Offset + Done, kSize>(piece);
      put_pieces<Offset, Done + kSize>(value);
    }
  }
  template <std::size_t Offset, std::size_t Size>
  void put_piece(std::uint64_t piece) {
    constexpr std::size_t kIndex = Offset / kWord;
    constexpr std::size_t kWithin = Offset % kWord;
    words_[kIndex] |= piece << (kWithin * 8);
    if constexpr (kWithin + Size > kWord) words_[kIndex + 1] |= piece >> ((kWord - kWithin) * 8);
  }

  std::uint64_t words_[(Fixed + kWord - 1) / kWord + (Fixed == 0 ? 1 : 0)] = {};
  iovec vectors_[1 + Vectors];
  std::size_t count_ = 1;
  std::size_t size_ = Fixed;
};

}  // namespace landtrace::detail
