// How values are spread: what a histogram with a .log2 key says of one group.
#pragma once

#include <cstdint>
#include <map>

namespace landtrace::cli {

class Distribution {
 public:
  // Values v with 2^(power-1) < v <= 2^power; power 0: 0 and 1.
  struct Bucket {
    std::uint64_t count = 0;
    std::uint64_t sum = 0;
  };
  static std::uint64_t low(unsigned power) { return power == 0 ? 0 : (1ull << (power - 1)) + 1; }
  static std::uint64_t high(unsigned power) { return power >= 64 ? ~0ull : 1ull << power; }

  void add(unsigned power, std::uint64_t count, std::uint64_t sum);

  [[nodiscard]] const std::map<unsigned, Bucket>& buckets() const { return buckets_; }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t sum() const { return sum_; }
  [[nodiscard]] double mean() const;
  // The value that this part of all values (0 to 1) does not exceed. Values are taken to be spread evenly within a
  // bucket.
  [[nodiscard]] double percentile(double part) const;

 private:
  std::map<unsigned, Bucket> buckets_;
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
};

}  // namespace landtrace::cli
