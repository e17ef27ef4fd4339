#include "rules/histograms/resolve.hpp"

#include <utility>

#include "rules/histograms/expressions.hpp"
#include "rules/histograms/sort_keys.hpp"
#include "language/words.hpp"

namespace landtrace::rules {
namespace {

using language::HistMistake;

constexpr std::uint32_t kMaxKernelKey = 256 + hist::kStackSize;  // bytes

// A minus sign that is none.
std::string without_sym_offset(std::string_view definition) {
  constexpr std::string_view kView = ".sym-offset";
  std::string text(definition);
  for (std::size_t at = text.find(kView); at != std::string::npos; at = text.find(kView, at)) text[at + 4] = 'X';
  return text;
}

// The kernel looks no further than the first dot of SYSTEM.EVENT.$NAME when it complains about it.
std::string_view seen_in(std::string_view text) {
  const std::size_t first = text.find('.');
  const bool is_qualified = first != std::string_view::npos && text.find('.', first + 1) != std::string_view::npos;
  return is_qualified ? text.substr(0, first) : text;
}

class Resolver {
 public:
  Resolver(Events& events, Instance& instance, const Event& event, bool removes, language::HistComplaints& complaints)
      : events_(events),
        histogram_(std::make_shared<Histogram>()),
        removes_(removes),
        complaints_(complaints),
        variables_(events, instance, event, *histogram_, complaints),
        expressions_(event, *histogram_, variables_, complaints) {
    histogram_->instance = instance.index;
    histogram_->event_slot = event.slot;
    histogram_->event_serial = event.serial;
    histogram_->system = event.system;
    histogram_->event = event.name;
  }

  Result<HistogramPtr> resolve(std::string_view definition) {
    LT_TRY(histogram_->attributes, language::parse_hist_attributes(without_sym_offset(definition), complaints_));
    LT_CHECK(parse_actions());
    LT_TRY(histogram_->definitions, definitions_in(histogram_->attributes, complaints_));
    LT_CHECK(find_values());
    LT_CHECK(find_variables());
    LT_CHECK(find_keys());
    LT_TRY(histogram_->sort, find_sort_keys(*histogram_, complaints_));
    return histogram_;
  }

 private:
  Result<void> parse_actions() {
    const auto exists = [this](std::string_view system, std::string_view name) {
      return events_.find_or_print(system, name) != nullptr;
    };
    for (const std::string& text : histogram_->attributes.actions) {
      LT_TRY(language::ActionText action, language::parse_action(text, exists, complaints_));
      histogram_->actions.push_back({std::move(action), {}, {}, 0});
    }
    return {};
  }

  Result<void> find_values() {
    HistogramField hits;
    hits.role = FieldRole::kValue;
    hits.source = FieldSource::kHitCount;
    hits.size = 8;
    hits.type = "u64";
    histogram_->values.push_back(std::make_shared<HistogramField>(std::move(hits)));
    auto named = histogram_->attributes.values ? find_named_values(*histogram_->attributes.values) : Result<void>();
    if (histogram_->values.size() == 1 && tried_values_ == 0 && histogram_->attributes.no_hitcount) {
      return complaints_.refuse(HistMistake::kValueNeeded, {}, ENOENT);
    }
    return named;
  }

  Result<void> find_named_values(std::string_view text) {
    std::optional<std::string_view> rest = text;
    bool has_hit_count = false;
    for (std::size_t i = 0; i < language::kMostHistValues && rest && tried_values_ + 1 < language::kMostHistValues;
         ++i) {
      const std::string_view value = language::take_until(rest, ",");
      if (value == "hitcount" && !std::exchange(has_hit_count, true)) continue;  // it is there; a second one is a sum
      ++tried_values_;
      LT_TRY(FieldPtr field, expressions_.parse(value, FieldRole::kValue));
      LT_CHECK(check_view(*field, value));
      histogram_->values.push_back(std::move(field));
    }
    if (rest && *rest != "hitcount") return fail(EINVAL, "a histogram has two values beside the hit count");
    return {};
  }

  // Some make sense for keys alone.
  Result<void> check_view(const HistogramField& field, std::string_view text) {
    bool fits = true;
    switch (field.view) {
      case FieldView::kGraph:
      case FieldView::kPercent:
      case FieldView::kBuckets:
      case FieldView::kLog2:
        fits = false;
        break;
      case FieldView::kSymbol:
      case FieldView::kSymbolOffset:
      case FieldView::kSyscall:
        fits = field.role == FieldRole::kVariable;
        break;
      default:
        fits = field.role == FieldRole::kVariable || !field.is_stack() || field.source == FieldSource::kReference;
    }
    return fits ? Result<void>() : complaints_.refuse(HistMistake::kFieldModifier, text);
  }

  Result<void> find_variables() {
    for (std::size_t i = 0; i < histogram_->definitions.size(); ++i) {
      const language::VariableDefinition definition = histogram_->definitions[i];
      if (variables_.is_taken(definition.name) && !removes_) {
        return complaints_.refuse(HistMistake::kDuplicateVariable, definition.name);
      }
      LT_TRY(FieldPtr field, expressions_.parse_definition(i));
      LT_CHECK(check_view(*field, definition.expression));
      histogram_->variables.push_back(std::move(field));
    }
    return {};
  }

  Result<void> find_keys() {
    std::uint32_t size = 0;
    const auto parts = language::parts_of(histogram_->attributes.keys, ',');
    for (const std::string_view part : parts) {
      if (histogram_->keys.size() == language::kMostHistKeys) return fail(EINVAL, "a histogram has three keys at most");
      LT_TRY(FieldPtr field, expressions_.parse(part, FieldRole::kKey));
      if (refers_to_variables(*field)) return complaints_.refuse(HistMistake::kReferenceInKey, seen_in(part));
      field->size = (field->size + 7) / 8 * 8;
      field->key_offset = size;
      size += field->size;
      if (size > kMaxKernelKey) return fail(EINVAL, "the key is too large");
      histogram_->keys.push_back(std::move(field));
    }
    return {};
  }

  Events& events_;
  HistogramPtr histogram_;
  bool removes_;
  language::HistComplaints& complaints_;
  Variables variables_;
  Expressions expressions_;
  std::size_t tried_values_ = 0;
};

}  // namespace

Result<HistogramPtr> resolve_histogram(Events& events, Instance& instance, const Event& event,
                                       std::string_view definition, bool removes,
                                       language::HistComplaints& complaints) {
  return Resolver(events, instance, event, removes, complaints).resolve(definition);
}

}  // namespace landtrace::rules
