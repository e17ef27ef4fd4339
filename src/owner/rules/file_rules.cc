#include "rules/file_rules.hpp"

#include <algorithm>

namespace landtrace::rules {

const FileRules* find_rules(const Event& event, const Instance& instance) {
  const EventFile* const file = event.file(instance.index);
  return file == nullptr ? nullptr : static_cast<const FileRules*>(file->rules.get());
}

FileRules* find_rules(Event& event, const Instance& instance) {
  const EventFile* const file = event.files.find(instance.index);
  return file == nullptr ? nullptr : static_cast<FileRules*>(file->rules.get());
}

FileRules& rules_of(Event& event, const Instance& instance) {
  std::unique_ptr<domain::Attachment>& rules = event.files[instance.index].rules;
  if (!rules) rules = std::make_unique<FileRules>();
  return static_cast<FileRules&>(*rules);
}

bool is_conditional(const std::vector<EventTrigger>& triggers) {
  return std::any_of(triggers.begin(), triggers.end(), [](const EventTrigger& trigger) {
    return !trigger.filter.empty() || trigger.command.kind == language::TriggerKind::kTraceOff ||
           trigger.command.kind == language::TriggerKind::kStackTrace ||
           trigger.command.kind == language::TriggerKind::kHist;
  });
}

}  // namespace landtrace::rules
