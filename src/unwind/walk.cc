#include "unwind/walk.hpp"

namespace landtrace::unwind {

Walk::Frame Walk::look() {
  const std::uint64_t pc = registers_.pc() - (is_return_address_ ? 1 : 0);
  if (object_ == nullptr || !object_->holds(pc)) object_ = objects_.function(objects_.self, pc);
  fde_ = {};
  has_fde_ = object_ != nullptr && find_fde(object_->tables, pc, fde_);
  return {registers_.pc(), object_, has_fde_ ? fde_.begin : 0};
}

bool Walk::go_on() {
  const std::uint64_t pc = registers_.pc() - (is_return_address_ ? 1 : 0);
  const Step step =
      has_fde_ ? step_by_table(object_->tables, fde_, pc, read_, registers_) : step_by_frame_pointer(read_, registers_);
  is_return_address_ = step == Step::kCaller;
  return step == Step::kCaller || step == Step::kSignalFrame;
}

}  // namespace landtrace::unwind
