#include "tracefs/tree.hpp"

#include "tracefs/available_events.hpp"
#include "tracefs/dynamic_events.hpp"
#include "tracefs/fixed_text.hpp"
#include "tracefs/instances/instance_files.hpp"
#include "tracefs/instances/instances_folder.hpp"
#include "tracefs/probe_files.hpp"
#include "tracefs/readme.hpp"
#include "tracefs/synthetic_events.hpp"
#include "tracefs/user_events/data.hpp"
#include "tracefs/user_events/mmap.hpp"
#include "tracefs/user_events/status.hpp"

namespace landtrace::tracefs {

Tree::Tree(domain::Domain& domain, rules::Rules& rules)
    : context_(domain, rules), root_(std::make_shared<ListFolder>()) {
  const InstancePtr top = context_.state_of(domain.top());
  add_instance_files(*root_, top);
  root_->add<FixedText>("README", kReadme);
  root_->add<AvailableEvents>("available_events", top);
  root_->add<DynamicEvents>("dynamic_events", context_);
  root_->add<InstancesFolder>("instances", context_);
  root_->add<ProbeEvents>("kprobe_events", context_, language::ProbeFamily::kKprobe);
  root_->add<ProbeProfile>("kprobe_profile", context_, language::ProbeFamily::kKprobe);
  root_->add<FixedText>("printk_formats", "");
  root_->add<SyntheticEvents>("synthetic_events", context_);
  root_->add<ProbeEvents>("uprobe_events", context_, language::ProbeFamily::kUprobe);
  root_->add<ProbeProfile>("uprobe_profile", context_, language::ProbeFamily::kUprobe);
  root_->add<UserEventsData>("user_events_data", context_);
  root_->add<UserEventsMmap>("user_events_mmap", context_);
  root_->add<UserEventsStatus>("user_events_status", context_);
}

Result<std::shared_ptr<Node>> Tree::find(std::string_view path) {
  return walk(root_, path, [](const Node&) { return Result<void>(); });
}

}  // namespace landtrace::tracefs
