#include "abi/entry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace landtrace::abi {
namespace {

// A payload in pieces of so many bytes, each in memory of its own.
class Pieces {
 public:
  Pieces(const std::string& payload, std::size_t step) {
    for (std::size_t at = 0; at < payload.size(); at += step) {
      const std::size_t size = std::min(step, payload.size() - at);
      blocks_.push_back(std::make_unique<char[]>(size));
      payload.copy(blocks_.back().get(), size, at);
      segments_.push_back({blocks_.back().get(), size});
    }
  }
  [[nodiscard]] Payload payload() const { return {segments_.data(), segments_.size()}; }

 private:
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::vector<arch::Segment> segments_;
};

Bytes bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

TEST(EntryTest, NumbersOfEachSizeAreWidenedWithTheirSign) {
  const std::string payload = "\x80\xff\xff\xff\xff\xff\xff\xff\xff\x7f";
  for (std::size_t step = 1; step <= payload.size(); ++step) {
    const Pieces pieces(payload, step);
    EXPECT_EQ(pieces.payload().number(0, 1, false), 0x80u);
    EXPECT_EQ(pieces.payload().number(0, 1, true), ~0x7full);
    EXPECT_EQ(pieces.payload().number(0, 2, false), 0xff80u);
    EXPECT_EQ(pieces.payload().number(0, 2, true), ~0x7full);
    EXPECT_EQ(pieces.payload().number(0, 4, false), 0xffffff80u);
    EXPECT_EQ(pieces.payload().number(0, 4, true), ~0x7full);
    EXPECT_EQ(pieces.payload().number(2, 8, true), 0x7fffffffffffffffu);
    EXPECT_EQ(pieces.payload().number(1, 8, false), ~0ull);
  }
}

TEST(EntryTest, WhatIsBehindTheEndIsZero) {
  for (std::size_t step = 1; step <= 3; ++step) {
    const Pieces pieces("\x01\x02\x03", step);
    EXPECT_EQ(pieces.payload().load<std::uint32_t>(0), 0x030201u);
    EXPECT_EQ(pieces.payload().load<std::uint32_t>(2), 3u);
    EXPECT_EQ(pieces.payload().load<std::uint32_t>(3), 0u);
    EXPECT_EQ(pieces.payload().load<std::uint64_t>(~0ull), 0u);
  }
  EXPECT_EQ(Payload(nullptr, 0).load<std::uint64_t>(0), 0u);
}

TEST(EntryTest, CopiesGoOverPiecesAndSayHowMuchThereWas) {
  for (std::size_t step = 1; step <= 6; ++step) {
    const Pieces pieces("abcdef", step);
    char to[8] = {};
    EXPECT_EQ(pieces.payload().copy(2, to, 3), 3u);
    EXPECT_STREQ(to, "cde");
    EXPECT_EQ(pieces.payload().copy(4, to, sizeof to), 2u);
    EXPECT_STREQ(to, "efe");
    EXPECT_EQ(pieces.payload().copy(6, to, 1), 0u);
    EXPECT_EQ(pieces.payload().copy(~0ull, to, sizeof to), 0u);
  }
}

TEST(EntryTest, SignsOfBytesInARow) {
  EXPECT_EQ(sign_extended(0x80, 1), ~0x7full);
  EXPECT_EQ(sign_extended(0x7f, 1), 0x7fu);
  EXPECT_EQ(sign_extended(0x8000, 2), ~0x7fffull);
  EXPECT_EQ(sign_extended(~0ull, 8), ~0ull);
  EXPECT_EQ(load_unsigned(bytes_of("\xff\xff")), 0xffffu);
  EXPECT_EQ(load_unsigned({}), 0u);
  EXPECT_EQ(load_unsigned(bytes_of("123456789")), 0u);
}

TEST(EntryTest, PartsOfAHeader) {
  const auto header = load<std::uint64_t>("\x01\x02\x03\x04\x05\x06\x07\x88");
  EXPECT_EQ(header_number(header, 0, 2), 0x0201u);
  EXPECT_EQ(header_number(header, 2, 1), 3u);
  EXPECT_EQ(header_number(header, 4, 4), 0x88070605u);
  EXPECT_EQ(header_number(header, 0, 8), header);
}

TEST(EntryTest, LocationsCountFromTheEntryOrFromTheirEnd) {
  const std::uint32_t word = location_word(20, 3);
  EXPECT_EQ(word, 3u << 16 | 20);
  EXPECT_EQ(data_location(word).begin, 20u);
  EXPECT_EQ(data_location(word).length, 3u);
  EXPECT_EQ(rel_location(word, 12).begin, 32u);
  EXPECT_EQ(rel_location(0xffffffff, 0x10000).begin, 0x1ffffu);
}

TEST(EntryTest, NothingOfAPayloadBeginsInTheHeader) {
  EXPECT_EQ(in_payload({8, 3}).begin, 0u);
  EXPECT_EQ(in_payload({8, 3}).length, 3u);
  EXPECT_EQ(in_payload({7, 3}).length, 0u);
}

TEST(EntryTest, LocationsAreCutToWhatThereIs) {
  EXPECT_EQ(cut({10, 100}, 5).length, 3u);
  EXPECT_EQ(cut({10, 2}, 5).length, 2u);
  EXPECT_EQ(cut({100, 2}, 5).begin, 13u);
  EXPECT_EQ(cut({100, 2}, 5).length, 0u);
  EXPECT_EQ(cut({0, 100}, 5).length, 13u);
}

TEST(EntryTest, BytesAreThoseOfThePayloadOrNone) {
  const std::string payload = "abc";
  EXPECT_EQ(bytes_at(bytes_of(payload), {8, 3})->size(), 3u);
  EXPECT_EQ(bytes_at(bytes_of(payload), {9, 2})->data(), bytes_of(payload).data() + 1);
  EXPECT_FALSE(bytes_at(bytes_of(payload), {9, 3}));
  EXPECT_FALSE(bytes_at(bytes_of(payload), {7, 1}));
  EXPECT_FALSE(bytes_at(bytes_of(payload), {12, 0}));
  EXPECT_FALSE(bytes_at(bytes_of(payload), {9, ~0ull}));
  EXPECT_FALSE(bytes_at(bytes_of(payload), {~0ull, 9}));
  EXPECT_TRUE(bytes_at(bytes_of(payload), {11, 0})->empty());
  EXPECT_TRUE(bytes_at(bytes_of(payload), {0, 0})->empty());
}

}  // namespace
}  // namespace landtrace::abi
