// How values are spread: what a histogram with a .log2 key says of one group.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace landtrace::measure {

class Distribution {
 public:
  // Values from `low` to `high`, both included.
  struct Bucket {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    std::uint64_t count = 0;
    std::uint64_t sum = 0;
  };

  // Of .log2: values v with 2^(power-1) < v <= 2^power; power 0: 0 and 1.
  void add(unsigned power, std::uint64_t count, std::uint64_t sum);
  // Of .log2=STEPS: the step that begins with `first`.
  void add_step(std::uint64_t first, std::uint64_t steps, std::uint64_t count, std::uint64_t sum);
  // The values are signed numbers of so many bits, and sums in two's complement: the bucket from 0 on has the negative
  // ones, too.
  void may_be_negative(unsigned bits);

  [[nodiscard]] const std::map<std::uint64_t, Bucket>& buckets() const { return buckets_; }  // by `low`
  // One for each power of two, from the first to the last that have values.
  [[nodiscard]] std::vector<Bucket> powers() const;
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t sum() const { return sum_; }
  [[nodiscard]] double mean() const;
  [[nodiscard]] bool has_negative() const { return lowest_ < 0; }
  // What the bucket from 0 on begins with.
  [[nodiscard]] std::int64_t lowest() const { return lowest_; }
  // The value that this part of all values (0 to 1) does not exceed. Values are taken to be spread evenly within a
  // bucket, and in a step within its middle half: so no value of it is further away than 3/4 of the step. Those of a
  // bucket that has negative ones are taken to be as their mean.
  [[nodiscard]] double percentile(double part) const;

 private:
  void add(Bucket bucket);
  [[nodiscard]] Bucket power_of(std::uint64_t low) const;
  [[nodiscard]] double real(std::uint64_t sum) const;
  // The value behind this part of a bucket's.
  [[nodiscard]] double within(const Bucket& bucket, double part) const;

  std::map<std::uint64_t, Bucket> buckets_;
  bool has_steps_ = false;
  std::int64_t lowest_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
};

}  // namespace landtrace::measure
