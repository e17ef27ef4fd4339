#include "rules/histograms/resolve_actions.hpp"

#include <algorithm>

#include "rules/histograms/expressions.hpp"
#include "rules/histograms/synthetic_fields.hpp"
#include "rules/snapshots.hpp"
#include "language/words.hpp"

namespace landtrace::rules {
namespace {

using hist::Deed;
using hist::Handler;
using language::HistMistake;

constexpr std::size_t kMaxFieldVariables = hist::kMaxParams;  // the kernel's SYNTH_FIELDS_MAX, too
constexpr std::string_view kHiddenPrefix = "synthetic_";

// SYSTEM.EVENT.NAME, or NAME alone.
struct QualifiedName {
  std::string_view system;
  std::string_view event;
  std::string_view name;
};

Result<QualifiedName> qualified_name(std::string_view text) {
  std::optional<std::string_view> rest = text;
  const std::string_view first = language::take_until(rest, ".");
  if (!rest) return QualifiedName{{}, {}, first};
  const std::string_view second = language::take_until(rest, ".");
  if (!rest) return fail(EINVAL, "want SYSTEM.EVENT.NAME");
  return QualifiedName{first, second, *rest};
}

class Actions {
 public:
  Actions(Events& events, Instance& instance, Event& event, Histogram& histogram, const MakeHidden& make_hidden,
          language::HistComplaints& complaints)
      : events_(events),
        instance_(instance),
        histogram_(histogram),
        make_hidden_(make_hidden),
        complaints_(complaints),
        variables_(events, instance, event, histogram, complaints),
        expressions_(event, histogram, variables_, complaints) {}

  Result<void> resolve() {
    for (HistogramAction& action : histogram_.actions) {
      if (action.text.handler != Handler::kOnMatch) LT_CHECK(find_tracked(action));
      switch (action.text.deed) {
        case Deed::kTrace:
          LT_CHECK(find_synthetic(action));
          break;
        case Deed::kSave:
          LT_CHECK(find_saved(action));
          break;
        case Deed::kSnapshot:
          LT_CHECK(prepare_snapshot());
          break;
      }
    }
    return {};
  }

 private:
  Result<void> find_tracked(HistogramAction& action) {
    std::string_view name = action.text.tracked;
    if (!name.starts_with('$')) return complaints_.refuse(HistMistake::kTrackedIsNoVariable, name);
    name.remove_prefix(1);
    const auto own = variables_.find_own({}, {}, name);
    if (!own) return complaints_.refuse(HistMistake::kTrackedNotFound, name);
    action.tracked = expressions_.refer_to(*own, {}, {});
    if (!action.tracked) return fail(ENOMEM, "the histogram refers to too many variables");
    if (!add_hidden_variable()) return complaints_.refuse(HistMistake::kTrackedCreate);
    if (action.tracked->value_type != hist::ValueType::kNumber) {
      return complaints_.refuse(HistMistake::kTrackedCreate);  // the kernel compares where the texts are
    }
    return {};
  }

  bool add_hidden_variable() {
    if (histogram_.variables.size() + histogram_.hidden_variables >= language::kMostHistVariables) return false;
    ++histogram_.hidden_variables;
    return true;
  }

  // A field of the event as the value of a variable that only the kernel needs.
  Result<FieldPtr> field_variable(std::string_view name) {
    if (field_variables_ >= kMaxFieldVariables) return complaints_.refuse(HistMistake::kTooManyFieldVariables, name);
    auto field = expressions_.parse_atom(name, FieldRole::kVariable);
    if (!field) {
      complaints_.add(HistMistake::kFieldVariableParse, name);
      return field;
    }
    if (variables_.is_taken(name) || !add_hidden_variable()) {
      return complaints_.refuse(HistMistake::kVariableCreateOrFind, name);
    }
    ++field_variables_;
    return field;
  }

  // -- save() -------------------------------------------------------------------------------------------------------
  Result<void> find_saved(HistogramAction& action) {
    if (has_saves_) {
      complaints_.add(HistMistake::kTooManySaves);
      return fail(EEXIST, std::string(sentence_of(HistMistake::kTooManySaves)));
    }
    has_saves_ = true;
    for (const std::string& name : action.text.params) {
      LT_TRY(FieldPtr field, saved_field(name));
      action.params.push_back(std::move(field));
    }
    return {};
  }

  Result<FieldPtr> saved_field(const std::string& name) {
    auto field = field_variable(name);
    if (!field) complaints_.add(HistMistake::kFieldVariableCreate, name);
    return field;
  }

  // -- snapshot() -----------------------------------------------------------------------------------------------------
  Result<void> prepare_snapshot() {
    if (instance_.snapshot_is_kept) return fail(EBUSY, "another histogram takes snapshots");
    LT_CHECK(hold_snapshot(instance_));
    instance_.snapshot_is_kept = true;
    histogram_.holds_snapshot = true;
    return {};
  }

  // -- trace() --------------------------------------------------------------------------------------------------------
  Result<void> find_synthetic(HistogramAction& action) {
    Event* const synthetic = events_.find(kSyntheticSystem, action.text.synthetic);
    if (synthetic == nullptr) return complaints_.refuse(HistMistake::kSyntheticEventNotFound, action.text.synthetic);
    events_.add_reference(*synthetic);
    histogram_.held_events.push_back(synthetic->slot);
    action.synthetic = synthetic->slot;
    for (const std::string& text : action.text.params) {
      LT_TRY(const QualifiedName name, qualified_name(text));
      auto found = name.name.starts_with('$') ? find_variable(action, name) : find_field(action, name);
      if (!found) return fail(EINVAL, "there is no '" + text + "' for the synthetic event");
      if (!fits_synthetic_field(*synthetic, action.params.size(), *found->field)) {
        return complaints_.refuse(HistMistake::kParamType, name.name);
      }
      if (found->is_plain_field) {
        action.params.push_back(found->field);
        continue;
      }
      FieldPtr reference = expressions_.refer_to(found->variable, name.system, name.event);
      if (!reference) return fail(ENOMEM, "the histogram refers to too many variables");
      action.params.push_back(std::move(reference));
    }
    if (action.params.size() != synthetic->declaration()->fields.size()) {
      return complaints_.refuse(HistMistake::kParamCount, action.text.synthetic);
    }
    return {};
  }

  struct Param {
    FieldPtr field;
    bool is_plain_field = false;
    FoundVariable variable;
  };
  static Param param_of(FoundVariable variable) {
    FieldPtr field = variable.field;
    return {std::move(field), false, std::move(variable)};
  }

  // Parameters without an event's name are the own event's, or else that of onmatch().
  static QualifiedName elsewhere(const HistogramAction& action, QualifiedName name) {
    if (name.system.empty() && action.text.handler == Handler::kOnMatch) {
      name.system = action.text.match_system;
      name.event = action.text.match_event;
    }
    return name;
  }

  std::optional<Param> find_variable(const HistogramAction& action, QualifiedName name) {
    name.name.remove_prefix(1);
    auto found = variables_.find_own(name.system, name.event, name.name);
    if (!found) {
      const QualifiedName there = elsewhere(action, name);
      found = variables_.find(there.system, there.event, there.name);
    }
    if (found) return param_of(*std::move(found));
    complaints_.add(HistMistake::kParamNotFound, name.name);
    return std::nullopt;
  }

  std::optional<Param> find_field(const HistogramAction& action, const QualifiedName& name) {
    const bool is_own = name.system.empty() || (name.system == histogram_.system && name.event == histogram_.event);
    if (is_own) {
      if (auto own = field_variable(name.name)) return Param{*std::move(own), true, {}};
    }
    const QualifiedName there = elsewhere(action, name);
    if (there.event.empty()) return std::nullopt;
    auto found = field_elsewhere(there);
    if (!found) return std::nullopt;
    return param_of(*std::move(found));
  }

  // A field of another event becomes a variable of a histogram of its own there, beside one that has the same keys.
  Result<FoundVariable> field_elsewhere(const QualifiedName& field) {
    if (histogram_.hidden.size() >= kMaxFieldVariables) {
      return complaints_.refuse(HistMistake::kTooManyFieldVariables, field.name);
    }
    Event* const there = events_.find_or_print(field.system, field.event);
    if (there == nullptr) return complaints_.refuse(HistMistake::kEventFileNotFound, field.name);
    const EventTrigger* const model = find_model(*there);
    if (model == nullptr) return complaints_.refuse(HistMistake::kHistogramNotFound, field.name);
    const std::string variable = std::string(kHiddenPrefix) + std::string(field.name);
    if (auto known = Variables::of_event(*there, instance_, variable)) return *std::move(known);
    const std::string command = hidden_command(*model, variable, field.name);
    if (auto made = make_hidden_(*there, command); !made) {
      complaints_.add(HistMistake::kHistogramForField, field.name);
      return tl::unexpected<Error>(std::move(made).error());
    }
    histogram_.hidden.push_back({there->serial, there->slot, command});
    if (auto made = Variables::of_event(*there, instance_, variable)) return *std::move(made);
    return complaints_.refuse(HistMistake::kSyntheticVariableNotFound, field.name);
  }

  [[nodiscard]] const EventTrigger* find_model(const Event& event) const {
    const FileRules* const file = find_rules(event, instance_);
    if (file == nullptr) return nullptr;
    const auto found = std::find_if(file->triggers.begin(), file->triggers.end(), [&](const EventTrigger& trigger) {
      return trigger.histogram && has_compatible_keys(histogram_, *trigger.histogram);
    });
    return found == file->triggers.end() ? nullptr : &*found;
  }

  static std::string hidden_command(const EventTrigger& model, std::string_view variable, std::string_view field) {
    std::string command = "keys=";
    for (const FieldPtr& key : model.histogram->keys) {
      if (command.back() != '=') command += ',';
      command += name_of(*key);
    }
    command += ":" + std::string(variable) + "=" + std::string(field);
    if (!model.filter.empty()) command += " if " + model.filter;
    return command;
  }

  Events& events_;
  Instance& instance_;
  Histogram& histogram_;
  const MakeHidden& make_hidden_;
  language::HistComplaints& complaints_;
  Variables variables_;
  Expressions expressions_;
  std::size_t field_variables_ = 0;
  bool has_saves_ = false;
};

}  // namespace

Result<void> resolve_actions(Events& events, Instance& instance, Event& event, Histogram& histogram,
                             const MakeHidden& make_hidden, language::HistComplaints& complaints) {
  return Actions(events, instance, event, histogram, make_hidden, complaints).resolve();
}

}  // namespace landtrace::rules
