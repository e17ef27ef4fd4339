#include "buffer/buffer.hpp"
#include "domain/ring_exchange.hpp"

#include <algorithm>
#include <utility>

namespace landtrace::buffer {
namespace {

constexpr std::uint64_t kFewestSubBuffers = 2;

tl::unexpected<Error> no_memory(const Error& error) { return fail(ENOMEM, error.message); }

}  // namespace

Buffer::Buffer(domain::Domain& domain, std::uint32_t instance_index)
    : domain_(domain), index_(instance_index), sub_buffers_(domain.instances().first_claimed()) {
  domain::Instance& instance = *domain.instances().at(instance_index);
  instance.snapshots = this;
  serial_ = instance.serial;
  main_ = std::make_shared<Contents>(domain.users(), domain.instances(), domain.grace(), instance.place, false);
  // A ring's size is the next power of two. The default size is shown as it was asked for, any other as the ring has
  // it.
  const std::uint64_t size = instance.place.geometry.size();
  const bool is_usual = size == ring::Geometry::holding(domain::kDefaultRingBytes).size();
  std::fill(sub_buffers_.begin(), sub_buffers_.end(), count_for(is_usual ? domain::kDefaultRingBytes : size));
}

Buffer::~Buffer() {
  if (domain::Instance* const left = instance()) left->snapshots = nullptr;
}

domain::Instance* Buffer::instance() const {
  domain::Instance* const instance = domain_.instances().at(index_);
  return instance != nullptr && instance->serial == serial_ ? instance : nullptr;
}

std::uint64_t Buffer::count_for(std::uint64_t bytes) const {
  return std::max(kFewestSubBuffers, (bytes + usable_bytes() - 1) / usable_bytes());
}

void Buffer::user_goes(std::uint32_t user) {
  follow_flips();
  for (const auto& contents : {main_, snapshot_}) {
    if (contents) contents->user_goes(user);
  }
}

Result<std::shared_ptr<Contents>> Buffer::make_contents(ring::Geometry geometry) {
  auto place = domain_.instances().make_place(geometry, overwrite());
  if (!place) return no_memory(place.error());
  return std::make_shared<Contents>(domain_.users(), domain_.instances(), domain_.grace(), *place, true);
}

Result<void> Buffer::switch_to(std::shared_ptr<Contents> next) {
  if (auto switched = domain::exchange_rings(*instance(), next->place(), domain_.plans(), domain_.grace()); !switched)
    return no_memory(switched.error());
  next->set_owned(false);
  main_->set_owned(true);
  main_ = std::move(next);
  return {};
}

Result<void> Buffer::make_snapshot() {
  const ring::Geometry geometry = main_->place().geometry;
  if (!snapshot_ || snapshot_->place().geometry.size_log2 != geometry.size_log2) {
    LT_TRY(auto made, make_contents(geometry));
    if (snapshot_) made->adopt(*snapshot_, geometry.size(), made);
    snapshot_ = std::move(made);
  }
  snapshot_->set_overwrite(overwrite());
  return {};
}

Result<void> Buffer::take_snapshot() {
  // Producers look at the counter's parity at every event, so counting is the whole swap; follow_flips() does the rest.
  if (const auto& flip = instance()->flip) {
    domain_.cells().count_one_more(flip->counter);
    return {};
  }
  LT_CHECK(make_snapshot());
  std::shared_ptr<Contents> taken = main_;
  LT_CHECK(switch_to(snapshot_));
  snapshot_ = std::move(taken);
  return {};
}

Result<void> Buffer::free_snapshot() {
  if (instance()->flip) return fail(EBUSY, "an event has a snapshot trigger");
  snapshot_.reset();
  return {};
}

Result<void> Buffer::arm_snapshot(bool armed) {
  if (!armed) {
    // The instance goes on in the set that the counter says now. A trigger may have swapped them since follow_flips()
    // looked.
    auto disarmed = domain::set_flip(*instance(), std::nullopt, domain_.plans(), domain_.cells(), domain_.grace());
    if (main_->place().rings != instance()->place.rings) exchange();
    return disarmed;
  }
  LT_CHECK(make_snapshot());
  LT_TRY(const std::uint32_t counter, domain_.cells().take_counter());
  flips_ = 0;
  auto set = domain::set_flip(*instance(), domain::Flip{counter, {main_->place(), snapshot_->place()}}, domain_.plans(),
                              domain_.cells(), domain_.grace());
  if (!set) domain_.cells().give_back(counter);
  return set;
}

void Buffer::exchange() {
  std::swap(main_, snapshot_);
  main_->set_owned(false);
  snapshot_->set_owned(true);
  instance()->place = main_->place();
}

// Triggers swap the sets in producers by counting; this brings main_ and snapshot_ up to date. An even number of
// swaps changes nothing.
void Buffer::follow_flips() {
  const domain::Instance* const found = instance();
  if (found == nullptr || !found->flip) return;
  const std::uint64_t flips = domain_.cells().count_of(found->flip->counter);
  if ((flips - std::exchange(flips_, flips)) % 2 != 0) exchange();
}

void Buffer::clear_all() {
  follow_flips();
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
  // All rings of a set have one size: that of the largest CPU.
  const ring::Geometry geometry = ring::Geometry::holding(largest * usable_bytes());
  if (geometry.size_log2 != main_->place().geometry.size_log2) LT_CHECK(resize_rings(geometry));
  sub_buffers_ = std::move(next);
  return {};
}

Result<void> Buffer::resize_rings(ring::Geometry geometry) {
  if (instance()->flip) return resize_both(geometry);
  LT_TRY(auto made, make_contents(geometry));
  const std::shared_ptr<Contents> old = main_;
  LT_CHECK(switch_to(made));
  main_->adopt(*old, geometry.size(), main_);
  return {};
}

// Triggers may swap the sets at any moment, and go on counting in the cell that they know: so each new set stands at
// the parity that its old one had. settle() waits for producers that still write to the old sets, since adopt()
// copies both.
Result<void> Buffer::resize_both(ring::Geometry geometry) {
  follow_flips();
  LT_TRY(auto main, make_contents(geometry));
  LT_TRY(auto snapshot, make_contents(geometry));
  domain::Flip flip = *instance()->flip;
  flip.places[flips_ & 1] = main->place();
  flip.places[~flips_ & 1] = snapshot->place();
  LT_CHECK(domain::set_flip(*instance(), flip, domain_.plans(), domain_.cells(), domain_.grace()));
  domain_.grace().settle(domain::kPatience);
  main->set_owned(false);
  main_->set_owned(true);
  std::swap(main_, main);
  std::swap(snapshot_, snapshot);
  main_->adopt(*main, geometry.size(), main_);
  snapshot_->adopt(*snapshot, geometry.size(), snapshot_);
  follow_flips();
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
  follow_flips();
  main_->set_overwrite(overwrite);
  instance()->place.overwrite = overwrite;
  if (snapshot_) snapshot_->set_overwrite(overwrite);
}

}  // namespace landtrace::buffer
