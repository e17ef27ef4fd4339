#include "buffer/frozen.hpp"

#include <algorithm>
#include <cstring>

namespace landtrace::buffer {

void Frozen::append(const ring::RecordView& record, std::uint64_t clock) {
  ring::RecordHeader header = record.header;
  header.clock = clock;
  const std::size_t at = bytes_.size();
  bytes_.resize(at + ring::record_length(record.payload.size()));
  std::memcpy(bytes_.data() + at, &header, sizeof header);
  if (!record.payload.empty()) {
    std::memcpy(bytes_.data() + at + sizeof header, record.payload.data(), record.payload.size());
  }
  ends_.push_back(bytes_.size());
}

std::uint64_t Frozen::finish(std::uint64_t bytes) {
  const std::size_t gone = first_within(bytes);
  const std::uint64_t start = gone == 0 ? 0 : ends_[gone - 1];
  bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(start));
  bytes_.shrink_to_fit();
  ends_.erase(ends_.begin(), ends_.begin() + static_cast<std::ptrdiff_t>(gone));
  std::uint64_t at = 0;
  for (std::uint64_t& end : ends_) {
    end -= start;
    ring::RecordView record{};
    std::memcpy(&record.header, bytes_.data() + at, sizeof record.header);
    record.payload = {bytes_.data() + at + sizeof record.header, record.header.words * std::size_t{4}};
    records_.push_back(record);
    at = end;
  }
  return gone;
}

std::size_t Frozen::first_within(std::uint64_t bytes) const {
  if (ends_.empty() || ends_.back() <= bytes) return 0;
  // Record i begins where the one before it ends.
  const std::uint64_t from = ends_.back() - bytes;
  return static_cast<std::size_t>(std::lower_bound(ends_.begin(), ends_.end(), from) - ends_.begin()) + 1;
}

std::uint64_t Frozen::bytes_from(std::size_t first) const {
  if (first >= ends_.size()) return 0;
  return ends_.back() - (first == 0 ? 0 : ends_[first - 1]);
}

}  // namespace landtrace::buffer
