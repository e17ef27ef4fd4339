#include "cli/histogram/distribution.hpp"

namespace landtrace::cli {

void Distribution::add(unsigned power, std::uint64_t count, std::uint64_t sum) {
  Bucket& bucket = buckets_[power];
  bucket.count += count;
  bucket.sum += sum;
  count_ += count;
  sum_ += sum;
}

void Distribution::may_be_negative(unsigned bits) {
  if (bits != 0) lowest_ = -1 - static_cast<std::int64_t>((1ull << (bits - 1)) - 1);
}

double Distribution::real(std::uint64_t sum) const {
  return has_negative() ? static_cast<double>(static_cast<std::int64_t>(sum)) : static_cast<double>(sum);
}

double Distribution::mean() const { return count_ == 0 ? 0 : real(sum_) / static_cast<double>(count_); }

double Distribution::within(unsigned power, const Bucket& bucket, double part) const {
  const auto bottom = static_cast<double>(low(power));
  if (bucket.count == 0) return bottom;
  if (power == 0 && has_negative()) return real(bucket.sum) / static_cast<double>(bucket.count);
  return bottom + (static_cast<double>(high(power)) - bottom) * part;
}

double Distribution::percentile(double part) const {
  double wanted = part * static_cast<double>(count_);
  double value = 0;
  for (const auto& [power, bucket] : buckets_) {
    const auto count = static_cast<double>(bucket.count);
    value = within(power, bucket, wanted < count ? wanted / count : 1);
    if (wanted <= count) break;
    wanted -= count;
  }
  return value;
}

}  // namespace landtrace::cli
