#include "tracefs/instances/instances_folder.hpp"

#include "rules/histograms/search.hpp"
#include "tracefs/instances/holding.hpp"
#include "tracefs/instances/instance_files.hpp"

namespace landtrace::tracefs {
namespace {

constexpr std::size_t kMaxName = 255;

std::shared_ptr<Folder> make_instance_folder(const InstancePtr& instance) {
  auto files = std::make_shared<ListFolder>();
  add_instance_files(*files, instance);
  return std::make_shared<HoldingFolder>(std::move(files), instance);
}

}  // namespace

// The top instance has the empty name, and is not in this folder.
domain::Instance* InstancesFolder::find_instance(std::string_view name) {
  return name.empty() ? nullptr : context_.domain.instances().find(name);
}

Result<std::vector<Folder::Entry>> InstancesFolder::list() {
  std::vector<Entry> entries;
  for (const domain::Instance* const instance : context_.domain.instances().all()) {
    if (instance->listed && !instance->name.empty()) entries.push_back({instance->name, true});
  }
  return entries;
}

Result<std::shared_ptr<Node>> InstancesFolder::find(std::string_view name) {
  const domain::Instance* const instance = find_instance(name);
  if (instance == nullptr) return fail(ENOENT, "no such instance");
  auto& folder = folders_[instance->serial];
  if (!folder) folder = make_instance_folder(context_.state_of(*instance));
  return folder;
}

Result<void> InstancesFolder::make_folder(std::string_view name, const Caller&) {
  if (name.empty() || name == "." || name == "..") return fail(EEXIST, "the folder exists");
  if (name.find('/') != std::string_view::npos) return fail(EINVAL, "an instance's name has no slash");
  if (name.size() > kMaxName) return fail(ENAMETOOLONG, "the name is too long");
  LT_TRY(const domain::Instance* const made,
         context_.domain.instances().create(std::string(name), context_.default_geometry(), true, true));
  std::ignore = context_.state_of(*made);
  return {};
}

Result<void> InstancesFolder::remove_folder(std::string_view name, const Caller&) {
  const domain::Instance* const instance = find_instance(name);
  if (instance == nullptr) return fail(ENOENT, "no such instance");
  const InstancePtr state = context_.state_of(*instance);
  if (state->open_files > 0) return fail(EBUSY, "a file of the instance is open");
  if (rules::has_variables(context_.domain.events(), state->index))
    return fail(EBUSY, "a histogram of it has variables");
  folders_.erase(state->serial);
  context_.forget(*state);
  domain::destroy_instance(state->index, context_.domain.listening(), context_.domain.instances());
  return {};
}

}  // namespace landtrace::tracefs
