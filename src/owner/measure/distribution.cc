#include "measure/distribution.hpp"

#include <bit>

#include "ipc/histogram_table.hpp"

namespace landtrace::measure {
namespace {

constexpr unsigned kMostPower = 64;

std::uint64_t top_of(unsigned power) { return power >= kMostPower ? ~0ull : 1ull << power; }
std::uint64_t bottom_of(unsigned power) { return power == 0 ? 0 : top_of(power - 1) + 1; }

}  // namespace

void Distribution::add(unsigned power, std::uint64_t count, std::uint64_t sum) {
  add({bottom_of(power), top_of(power), count, sum});
}

void Distribution::add_step(std::uint64_t first, std::uint64_t steps, std::uint64_t count, std::uint64_t sum) {
  has_steps_ = true;
  add({first, ipc::last_in_step(first, steps), count, sum});
}

void Distribution::add(Bucket bucket) {
  const auto [known, is_new] = buckets_.try_emplace(bucket.low, bucket);
  if (!is_new) {
    known->second.count += bucket.count;
    known->second.sum += bucket.sum;
  }
  count_ += bucket.count;
  sum_ += bucket.sum;
}

void Distribution::may_be_negative(unsigned bits) {
  if (bits != 0) lowest_ = -1 - static_cast<std::int64_t>((1ull << (bits - 1)) - 1);
}

// Steps begin with a power of two, and .log2 ends with one.
Distribution::Bucket Distribution::power_of(std::uint64_t low) const {
  if (!has_steps_) {
    const auto power = low == 0 ? 0u : static_cast<unsigned>(std::bit_width(low - 1));
    return {bottom_of(power), top_of(power)};
  }
  const auto bits = static_cast<unsigned>(std::bit_width(low));
  return bits == 0 ? Bucket{} : Bucket{1ull << (bits - 1), top_of(bits) - (bits < kMostPower ? 1 : 0)};
}

std::vector<Distribution::Bucket> Distribution::powers() const {
  std::vector<Bucket> powers;
  for (const auto& [low, bucket] : buckets_) {
    const Bucket power = power_of(low);
    while (!powers.empty() && powers.back().low < power.low) powers.push_back(power_of(powers.back().high + 1));
    if (powers.empty()) powers.push_back(power);
    powers.back().count += bucket.count;
    powers.back().sum += bucket.sum;
  }
  return powers;
}

double Distribution::real(std::uint64_t sum) const {
  return has_negative() ? static_cast<double>(static_cast<std::int64_t>(sum)) : static_cast<double>(sum);
}

double Distribution::mean() const { return count_ == 0 ? 0 : real(sum_) / static_cast<double>(count_); }

double Distribution::within(const Bucket& bucket, double part) const {
  const auto bottom = static_cast<double>(bucket.low);
  const double width = static_cast<double>(bucket.high) - bottom;
  if (bucket.count == 0) return bottom;
  if (bucket.low == 0 && has_negative()) return real(bucket.sum) / static_cast<double>(bucket.count);
  constexpr double kMiddle = 0.25, kHalf = 0.5;
  return bottom + width * (has_steps_ ? kMiddle + kHalf * part : part);
}

double Distribution::percentile(double part) const {
  double wanted = part * static_cast<double>(count_);
  double value = 0;
  for (const auto& [low, bucket] : buckets_) {
    const auto count = static_cast<double>(bucket.count);
    value = within(bucket, wanted < count ? wanted / count : 1);
    if (wanted <= count) break;
    wanted -= count;
  }
  return value;
}

}  // namespace landtrace::measure
