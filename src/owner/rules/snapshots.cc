#include "rules/snapshots.hpp"

namespace landtrace::rules {

Result<void> hold_snapshot(Instance& instance) {
  if (instance.snapshot_triggers == 0) {
    if (instance.snapshots == nullptr) return fail(EINVAL, "this instance has no snapshot");
    LT_CHECK(instance.snapshots->arm_snapshot(true));
  }
  ++instance.snapshot_triggers;
  return {};
}

void release_snapshot(Instance& instance) {
  if (--instance.snapshot_triggers > 0 || instance.snapshots == nullptr) return;
  std::ignore = instance.snapshots->arm_snapshot(false);
}

}  // namespace landtrace::rules
