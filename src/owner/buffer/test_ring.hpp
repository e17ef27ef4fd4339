// A ring in ordinary memory with one portable writer, for tests.
#pragma once

#include <cstring>
#include <vector>

#include "base/mapping.hpp"
#include "ring/test_write.hpp"

namespace landtrace::buffer {

class TestRing {
 public:
  explicit TestRing(bool overwrite = false) : consumed_(overwrite ? ring::kNeverFull : 0) {}

  // A record of `length` bytes in the ring whose payload begins with `number`. False: discarded.
  bool write(std::uint32_t number, std::uint64_t length = 64) {
    std::vector<std::byte> payload(length - arch::kRecordHeader);
    std::memcpy(payload.data(), &number, sizeof number);
    const arch::Segment segment{payload.data(), payload.size()};
    const ring::RingSet rings{memory_.data(), &consumed_, geometry_, 0, 1};
    return ring::write(rings, {nullptr, arch::RawClock::kMonotonic},
                       {7, 3, static_cast<std::uint32_t>(payload.size()), &segment, 1}) == ring::WriteResult::kWritten;
  }
  // The same, at a time of the caller's choice.
  void write_at(std::uint64_t clock, std::uint32_t number) {
    const std::uint64_t at = words().commit.position & (geometry_.size() - 1);
    write(number);
    std::memcpy(data() + geometry_.data_offset() + at, &clock, sizeof clock);
  }
  void consume_up_to(std::uint64_t position) { consumed_ = position; }

  [[nodiscard]] std::byte* data() const { return memory_.data(); }
  [[nodiscard]] ring::RingWords& words() const { return *reinterpret_cast<ring::RingWords*>(memory_.data()); }
  [[nodiscard]] ring::Geometry geometry() const { return geometry_; }

 private:
  ring::Geometry geometry_ = ring::Geometry::holding(0);
  Fd fd_ = *create_memfd("test_ring", geometry_.stride());
  Mapping memory_ = *Mapping::map(fd_.get(), geometry_.stride(), Mapping::Access::kReadWrite);
  std::uint64_t consumed_;
};

inline std::uint32_t number_of(const ring::RecordView& record) {
  std::uint32_t number = 0;
  std::memcpy(&number, record.payload.data(), sizeof number);
  return number;
}

}  // namespace landtrace::buffer
