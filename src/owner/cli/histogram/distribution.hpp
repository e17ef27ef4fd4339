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
  // The values are signed numbers of so many bits, and sums in two's complement: bucket 0 has the negative ones, too.
  void may_be_negative(unsigned bits);

  [[nodiscard]] const std::map<unsigned, Bucket>& buckets() const { return buckets_; }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t sum() const { return sum_; }
  [[nodiscard]] double mean() const;
  [[nodiscard]] bool has_negative() const { return lowest_ < 0; }
  // What bucket 0 begins with.
  [[nodiscard]] std::int64_t lowest() const { return lowest_; }
  // The value that this part of all values (0 to 1) does not exceed. Values are taken to be spread evenly within a
  // bucket; those of one that has negative ones, all to be as their mean.
  [[nodiscard]] double percentile(double part) const;

 private:
  [[nodiscard]] double real(std::uint64_t sum) const;
  // The value behind this part of a bucket's.
  [[nodiscard]] double within(unsigned power, const Bucket& bucket, double part) const;

  std::map<unsigned, Bucket> buckets_;
  std::int64_t lowest_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
};

}  // namespace landtrace::cli
