// instances: mkdir makes one, rmdir removes it.
#pragma once

#include <map>

#include "tracefs/context.hpp"
#include "tracefs/node.hpp"

namespace landtrace::tracefs {

class InstancesFolder : public Folder {
 public:
  explicit InstancesFolder(Context& context) : context_(context) {}

  Result<std::vector<Entry>> list() override;
  Result<std::shared_ptr<Node>> find(std::string_view name) override;
  // EEXIST; ENOSPC: the domain has no room for more.
  Result<void> make_folder(std::string_view name, const Caller& caller) override;
  // ENOENT; EBUSY while a file of it is open.
  Result<void> remove_folder(std::string_view name, const Caller& caller) override;

 private:
  [[nodiscard]] domain::Instance* find_instance(std::string_view name);

  Context& context_;
  std::map<std::uint64_t, std::shared_ptr<Folder>> folders_;  // by serial
};

}  // namespace landtrace::tracefs
