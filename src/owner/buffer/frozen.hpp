// Records that were copied out of a ring that is given up, since its size changes.
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

  // Appends a copy. finish() must follow before anything is read.
  void append(const ring::RecordView& record, std::uint64_t clock);
  // Keeps the newest records that fit into `bytes`. Returns how many were dropped.
  std::uint64_t finish(std::uint64_t bytes);

  [[nodiscard]] const std::vector<ring::RecordView>& records() const { return records_; }
  // The first record from which on all records fit into `bytes`.
  [[nodiscard]] std::size_t first_within(std::uint64_t bytes) const;
  // How many bytes the records from `first` on take.
  [[nodiscard]] std::uint64_t bytes_from(std::size_t first) const;

 private:
  std::vector<std::byte> bytes_;
  std::vector<std::uint64_t> ends_;  // where each record ends in bytes_
  std::vector<ring::RecordView> records_;
};

}  // namespace landtrace::buffer
