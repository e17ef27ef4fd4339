#include "tracefs/events/event_trigger.hpp"

#include "tracefs/context.hpp"
#include "tracefs/events/filter_errors.hpp"

namespace landtrace::tracefs {
namespace {

constexpr std::size_t kMaxCommand = 4095;

void log(InstanceState& instance, const domain::Event& event, const language::HistComplaints& complaints) {
  for (const language::HistComplaint& complaint : complaints.all()) {
    instance.errors.add({"hist:" + event.system + ":" + event.name, std::string(sentence_of(complaint.mistake)),
                         complaints.command(), complaint.position});
  }
}

}  // namespace

Result<std::string> EventTrigger::text() {
  LT_TRY(const domain::Event* const event, event_.get());
  LT_TRY(const domain::Instance* const instance, event_.instance->get());
  return event_.instance->context.rules.triggers().text(*instance, *event);
}

Result<std::size_t> EventTrigger::store(const Caller&, std::string_view bytes) {
  LT_TRY(domain::Event* const event, event_.get());
  LT_TRY(domain::Instance* const instance, event_.instance->get());
  if (bytes.empty()) return 0;
  if (bytes.size() > kMaxCommand) return fail(EINVAL, "no trigger is as long");
  language::HistComplaints complaints;
  const auto applied = event_.instance->context.rules.triggers().apply(*instance, *event, bytes, &complaints);
  log(*event_.instance, *event, complaints);
  if (applied) return bytes.size();
  const rules::RefusedTrigger& refused = applied.error();
  if (refused.filter) {
    const std::string_view command = bytes.substr(0, bytes.find('\0'));  // which ends in the expression
    return refuse_filter(*event_.instance, refused.expression, *refused.filter, command.rfind(refused.expression));
  }
  return fail(refused.error.code, refused.error.message);
}

Result<void> EventTrigger::truncate(const Caller&) {
  LT_TRY(domain::Event* const event, event_.get());
  LT_TRY(domain::Instance* const instance, event_.instance->get());
  event_.instance->context.rules.triggers().truncate(*instance, *event);
  return {};
}

}  // namespace landtrace::tracefs
