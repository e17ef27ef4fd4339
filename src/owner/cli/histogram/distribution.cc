#include "cli/histogram/distribution.hpp"

namespace landtrace::cli {

void Distribution::add(unsigned power, std::uint64_t count, std::uint64_t sum) {
  Bucket& bucket = buckets_[power];
  bucket.count += count;
  bucket.sum += sum;
  count_ += count;
  sum_ += sum;
}

double Distribution::mean() const { return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_); }

double Distribution::percentile(double part) const {
  double wanted = part * static_cast<double>(count_);
  double value = 0;
  for (const auto& [power, bucket] : buckets_) {
    const auto count = static_cast<double>(bucket.count);
    const auto bottom = static_cast<double>(low(power));
    const auto top = static_cast<double>(high(power));
    value = count == 0 ? bottom : bottom + (top - bottom) * (wanted < count ? wanted / count : 1);
    if (wanted <= count) break;
    wanted -= count;
  }
  return value;
}

}  // namespace landtrace::cli
