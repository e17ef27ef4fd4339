#include "unwind/walk.hpp"

namespace landtrace::unwind {

Walk::Frame Walk::look() {
  const std::uint64_t pc = place();
  if (object_ == nullptr || !object_->holds(pc)) object_ = objects_.function(objects_.self, pc);
  has_fde_ = false;
  has_shape_ = object_ != nullptr && cache_ == Cache::kOwnObjects && FrameShape::find(*object_, pc, shape_);
  if (has_shape_) return {registers_.pc(), object_, pc - shape_.function_offset()};
  fde_ = {};
  has_fde_ = object_ != nullptr && find_fde(object_->tables, pc, fde_);
  return {registers_.pc(), object_, has_fde_ ? fde_.begin : 0};
}

Step Walk::step_by_table(std::uint64_t pc) {
  Rules rules;
  if (!find_rules(fde_, pc, rules)) return Step::kBroken;
  if (cache_ == Cache::kOwnObjects && !fde_.is_signal_frame && shape_.take(rules, pc - fde_.begin)) {
    shape_.keep(*object_, pc);
  }
  return step_by_rules(object_->tables, rules, fde_.is_signal_frame, read_, registers_);
}

bool Walk::go_on() {
  Step step = Step::kBroken;
  if (has_shape_) {
    if (shape_.leave(read_, registers_)) step = registers_.pc() == 0 ? Step::kEnd : Step::kCaller;
  } else {
    step = has_fde_ && kByTables ? step_by_table(place()) : step_by_frame_pointer(read_, registers_);
  }
  is_return_address_ = step == Step::kCaller;
  return step == Step::kCaller || step == Step::kSignalFrame;
}

}  // namespace landtrace::unwind
