// A folder of an instance whose open files keep the instance from being removed.
//
// It wraps the instance's own folder: find() wraps each node that it returns, so that every file below counts itself in
// InstanceState::open_files while it is open. The nodes themselves need not know that.
#pragma once

#include "tracefs/instance_state.hpp"
#include "tracefs/node.hpp"

namespace landtrace::tracefs {

class HoldingFolder : public Folder {
 public:
  HoldingFolder(std::shared_ptr<Node> inner, InstancePtr instance)
      : inner_(std::move(inner)), instance_(std::move(instance)) {}

  [[nodiscard]] unsigned mode() const override { return inner_->mode(); }
  Result<std::vector<Entry>> list() override { return inner_->folder()->list(); }
  Result<std::shared_ptr<Node>> find(std::string_view name) override;

 private:
  std::shared_ptr<Node> inner_;
  InstancePtr instance_;
};

class HoldingFile : public File {
 public:
  HoldingFile(std::shared_ptr<Node> inner, InstancePtr instance)
      : inner_(std::move(inner)), instance_(std::move(instance)) {}

  [[nodiscard]] unsigned mode() const override { return inner_->mode(); }
  Result<std::unique_ptr<OpenFile>> open(const Caller& caller, int flags) override;
  [[nodiscard]] std::uint64_t size() const override { return inner_->file()->size(); }
  [[nodiscard]] const std::byte* page() const override { return inner_->file()->page(); }
  [[nodiscard]] bool is_paged() const override { return inner_->file()->is_paged(); }
  [[nodiscard]] bool is_stream() const override { return inner_->file()->is_stream(); }
  [[nodiscard]] bool is_event_data() const override { return inner_->file()->is_event_data(); }

 private:
  std::shared_ptr<Node> inner_;
  InstancePtr instance_;
};

}  // namespace landtrace::tracefs
