#include "tracefs/instances/holding.hpp"

namespace landtrace::tracefs {

Result<std::shared_ptr<Node>> HoldingFolder::find(std::string_view name) {
  LT_TRY(std::shared_ptr<Node> node, inner_->folder()->find(name));
  if (node->folder() != nullptr) return std::make_shared<HoldingFolder>(std::move(node), instance_);
  return std::make_shared<HoldingFile>(std::move(node), instance_);
}

Result<std::unique_ptr<OpenFile>> HoldingFile::open(const Caller& caller, int flags) {
  LT_TRY(std::unique_ptr<OpenFile> opened, inner_->file()->open(caller, flags));
  // Counted until the open file is closed: the pointer that it keeps counts down when it goes. It also keeps the
  // state itself.
  ++instance_->open_files;
  opened->keep(std::shared_ptr<InstanceState>(instance_.get(),
                                              [held = instance_](InstanceState* state) { --state->open_files; }));
  return opened;
}

}  // namespace landtrace::tracefs
