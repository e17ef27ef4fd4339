#include "domain/ring_exchange.hpp"

#include <utility>

namespace landtrace::domain {

Result<RingPlace> exchange_rings(Instance& instance, const RingPlace& next, Plans& plans, Grace& grace) {
  const RingPlace old = std::exchange(instance.place, next);
  if (auto published = plans.publish_all(instance); !published) {
    // Some events have the new rings by now: what they had fitted a moment ago, and fits again.
    instance.place = old;
    std::ignore = plans.publish_all(instance);
    return tl::unexpected<Error>(std::move(published).error());
  }
  grace.settle(kPatience);
  return old;
}

Result<void> set_flip(Instance& instance, std::optional<Flip> flip, Plans& plans, Cells& cells, Grace& grace) {
  const RingPlace place = instance.place;
  const std::optional<Flip> old = std::exchange(instance.flip, std::move(flip));
  const std::optional<Flip>& rings = instance.flip ? instance.flip : old;
  instance.place = rings->places[cells.count_of(rings->counter) & 1];
  if (auto published = plans.publish_all(instance); !published) {
    instance.place = place;
    instance.flip = old;
    std::ignore = plans.publish_all(instance);
    return published;
  }
  const bool counter_stays = old && instance.flip && old->counter == instance.flip->counter;
  if (old && !counter_stays) {
    grace.after_readers([&cells, cell = old->counter] { cells.give_back(cell); }, Holders::of_own_memory());
  }
  return {};
}

}  // namespace landtrace::domain
