#include "buffer/buffer.hpp"

#include <algorithm>
#include <utility>

namespace landtrace::buffer {
namespace {

constexpr std::uint64_t kFewestSubBuffers = 2;

tl::unexpected<Error> no_memory(const Error& error) { return fail(ENOMEM, error.message); }

}  // namespace

Buffer::Buffer(domain::Domain& domain, std::uint32_t instance_index)
    : domain_(domain), index_(instance_index), sub_buffers_(domain.instances().first_claimed()) {
  const domain::Instance& instance = *domain.instances().at(instance_index);
  serial_ = instance.serial;
  main_ = std::make_shared<Contents>(domain, instance.place, false);
  // A ring is as large as the next power of two; the usual size is told as it was asked for.
  const std::uint64_t size = instance.place.geometry.size();
  const bool is_usual = size == ring::Geometry::holding(domain::kDefaultRingBytes).size();
  std::fill(sub_buffers_.begin(), sub_buffers_.end(), count_for(is_usual ? domain::kDefaultRingBytes : size));
}

domain::Instance* Buffer::instance() const {
  domain::Instance* const instance = domain_.instances().at(index_);
  return instance != nullptr && instance->serial == serial_ ? instance : nullptr;
}

std::uint64_t Buffer::count_for(std::uint64_t bytes) const {
  return std::max(kFewestSubBuffers, (bytes + usable_bytes() - 1) / usable_bytes());
}

Result<std::shared_ptr<Contents>> Buffer::make_contents(ring::Geometry geometry) {
  auto place = domain_.instances().make_place(geometry, overwrite());
  if (!place) return no_memory(place.error());
  return std::make_shared<Contents>(domain_, *place, true);
}

Result<void> Buffer::switch_to(std::shared_ptr<Contents> next) {
  if (auto switched = domain_.exchange_rings(*instance(), next->place()); !switched) return no_memory(switched.error());
  next->set_owned(false);
  main_->set_owned(true);
  main_ = std::move(next);
  return {};
}

Result<void> Buffer::take_snapshot() {
  const ring::Geometry geometry = main_->place().geometry;
  if (!snapshot_ || snapshot_->place().geometry.size_log2 != geometry.size_log2) {
    LT_TRY(auto made, make_contents(geometry));
    if (snapshot_) made->adopt(*snapshot_, geometry.size(), made);
    snapshot_ = std::move(made);
  }
  snapshot_->set_overwrite(overwrite());
  std::shared_ptr<Contents> taken = main_;
  LT_CHECK(switch_to(snapshot_));
  snapshot_ = std::move(taken);
  return {};
}

void Buffer::clear_all() {
  main_->clear(kAllCpus);
  if (snapshot_) snapshot_->clear(kAllCpus);
}

Result<void> Buffer::resize(std::uint32_t cpu, std::uint64_t bytes) {
  std::vector<std::uint64_t> next = sub_buffers_;
  for (std::uint32_t i = 0; i < next.size(); ++i) {
    if (cpu == kAllCpus || cpu == i) next[i] = count_for(bytes);
  }
  constexpr std::uint64_t kMost = 1ull << ring::kMaxSizeLog2;
  const std::uint64_t largest = *std::max_element(next.begin(), next.end());
  if (largest > kMost / usable_bytes()) return fail(ENOMEM, "no ring can be as large");
  // The smaller ones of CPUs that differ are as large as the largest: a set of rings has one size.
  const ring::Geometry geometry = ring::Geometry::holding(largest * usable_bytes());
  if (geometry.size_log2 != main_->place().geometry.size_log2) {
    LT_TRY(auto made, make_contents(geometry));
    const std::shared_ptr<Contents> old = main_;
    LT_CHECK(switch_to(made));
    main_->adopt(*old, geometry.size(), main_);
  }
  sub_buffers_ = std::move(next);
  return {};
}

void Buffer::set_sub_buffer_order(unsigned order) {
  if (order == order_) return;
  std::vector<std::uint64_t> before;
  for (std::uint32_t cpu = 0; cpu < cpus(); ++cpu) before.push_back(bytes(cpu));
  order_ = order;
  for (std::uint32_t cpu = 0; cpu < cpus(); ++cpu) sub_buffers_[cpu] = count_for(before[cpu]);
  clear_all();
}

void Buffer::set_overwrite(bool overwrite) {
  main_->set_overwrite(overwrite);
  instance()->place.overwrite = overwrite;
  if (snapshot_) snapshot_->set_overwrite(overwrite);
}

}  // namespace landtrace::buffer
