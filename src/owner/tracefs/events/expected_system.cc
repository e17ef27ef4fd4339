#include "tracefs/events/expected_system.hpp"

#include "tracefs/context.hpp"
#include "tracefs/events/switch.hpp"
#include "tracefs/events/system_filter.hpp"

namespace landtrace::tracefs {
namespace {

class ExpectedFolder : public ListFolder {
 public:
  [[nodiscard]] unsigned mode() const override { return 0755; }
};

}  // namespace

bool expects_events(const InstanceState& instance) { return instance.context.domain.events().all().empty(); }

std::shared_ptr<Folder> make_expected_system(const InstancePtr& instance) {
  auto folder = std::make_shared<ExpectedFolder>();
  folder->add<ExpectedEnable>("enable", instance);
  folder->add<SystemFilter>("filter", instance, Selection{domain::kSystem, {}, {}});
  return folder;
}

Result<std::string> ExpectedEnable::text() {
  LT_TRY(const domain::Instance* const instance, instance_->get());
  return rules::Selections::selects(*instance, kUserEvents) ? "1\n" : "0\n";
}

Result<std::size_t> ExpectedEnable::store(const Caller&, std::string_view bytes) {
  LT_TRY(const bool on, switch_in(bytes));
  LT_TRY(domain::Instance* const instance, instance_->get());
  LT_TRY(const auto pattern, event::Pattern::parse(kUserEvents));
  LT_CHECK(instance_->context.rules.selections().listen(*instance, pattern, on));
  return bytes.size();
}

}  // namespace landtrace::tracefs
