// Records that were copied out of a ring, for when the ring itself is given up (its size changes).
#pragma once

#include <cstdint>
#include <vector>

#include "ring/reader.hpp"

namespace landtrace::buffer {

class Frozen {
 public:
  Frozen() = default;
  Frozen(const Frozen&) = delete;
  Frozen& operator=(const Frozen&) = delete;

  // Appends a copy; to be followed by finish() before anything is read.
  void append(const ring::RecordView& record, std::uint64_t clock);
  // Keeps the newest records, as far as `bytes` go. Returns how many had to go.
  std::uint64_t finish(std::uint64_t bytes);

  [[nodiscard]] const std::vector<ring::RecordView>& records() const { return records_; }
  // The first record with which all that follow take at most so many bytes.
  [[nodiscard]] std::size_t first_within(std::uint64_t bytes) const;
  // What the records from `first` on take.
  [[nodiscard]] std::uint64_t bytes_from(std::size_t first) const;

 private:
  std::vector<std::byte> bytes_;
  std::vector<std::uint64_t> ends_;  // of each record in bytes_
  std::vector<ring::RecordView> records_;
};

}  // namespace landtrace::buffer
