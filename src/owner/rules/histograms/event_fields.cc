#include "rules/histograms/event_fields.hpp"

#include <algorithm>
#include <bit>

#include "base/input.hpp"
#include "language/filter/fields.hpp"

namespace landtrace::rules {
namespace {

using language::HistMistake;

constexpr std::uint32_t kDynamicTextSize = 256;  // the kernel's, in a key

struct NamedView {
  std::string_view name;
  FieldView view;
};
constexpr NamedView kViews[] = {
    {"hex", FieldView::kHex},           {"sym", FieldView::kSymbol},      {"symXoffset", FieldView::kSymbolOffset},
    {"execname", FieldView::kExecName}, {"syscall", FieldView::kSyscall}, {"stacktrace", FieldView::kStack},
    {"log2", FieldView::kLog2},         {"usecs", FieldView::kUsecs},
};

Result<void> parse_width(std::string_view text, HistogramField& made, language::HistComplaints& complaints) {
  if (text.starts_with('s')) text.remove_prefix(1);
  if (!text.starts_with('=')) return complaints.refuse(HistMistake::kFieldModifier, text);
  text.remove_prefix(1);
  const auto width = number_in(text);
  if (!width || *width == 0) return complaints.refuse(HistMistake::kFieldModifier, text);
  made.view = FieldView::kBuckets;
  made.width = *width;
  return {};
}

// Ours: log2=32 has 32 steps for each power of two.
Result<void> parse_steps(std::string_view text, HistogramField& made, language::HistComplaints& complaints) {
  constexpr std::uint64_t kMostSteps = 1024;
  const auto steps = number_in(text);
  if (!steps || *steps < 2 || *steps > kMostSteps || !std::has_single_bit(*steps)) {
    return complaints.refuse(HistMistake::kFieldModifier, text);
  }
  made.view = FieldView::kLog2;
  made.width = *steps;
  return {};
}

Result<void> parse_view(std::string_view text, std::string_view name, HistogramField& made,
                        language::HistComplaints& complaints) {
  constexpr std::string_view kBucket = "bucket";
  if (text.starts_with(kBucket)) return parse_width(text.substr(kBucket.size()), made, complaints);
  constexpr std::string_view kSteps = "log2=";
  if (text.starts_with(kSteps)) return parse_steps(text.substr(kSteps.size()), made, complaints);
  const bool is_share = text.starts_with("percent") || text.starts_with("graph");
  if (is_share && made.role != FieldRole::kVariable && made.role != FieldRole::kKey) {
    made.view = text.front() == 'p' ? FieldView::kPercent : FieldView::kGraph;
    return {};
  }
  for (const NamedView& known : kViews) {
    if (text != known.name) continue;
    if (known.view == FieldView::kExecName && name != "common_pid") break;
    made.view = known.view;
    made.in_usecs = known.view == FieldView::kUsecs;
    return {};
  }
  return complaints.refuse(HistMistake::kFieldModifier, text);
}

// Those that are in every entry, before the event's own.
std::optional<event::Field> common_field(std::string_view name) {
  static const event::Field kFields[] = {
      {"unsigned short", "common_type", 0, 2, false, event::FieldKind::kInteger},
      {"unsigned char", "common_flags", 2, 1, false, event::FieldKind::kInteger},
      {"unsigned char", "common_preempt_count", 3, 1, false, event::FieldKind::kInteger},
      {"int", "common_pid", 4, 4, true, event::FieldKind::kInteger},
  };
  for (const event::Field& field : kFields) {
    if (field.name == name) return field;
  }
  return std::nullopt;
}

void make_stack(HistogramField& made) {
  made.value_type = hist::ValueType::kStack;
  made.size = hist::kStackSize;
  made.type = "unsigned long[]";
}

void make_special(HistogramField& made, FieldSource source, std::uint32_t size, std::string_view type) {
  made.source = source;
  made.size = size;
  made.type = type;
}

bool is_location(const event::Field& field) {
  return field.kind == event::FieldKind::kDataLocBytes || field.kind == event::FieldKind::kRelLocBytes ||
         field.kind == event::FieldKind::kDataLocStack;
}

// The numbers and texts that an event has.
Result<FieldPtr> from_field(const event::Field& field, const Event& event, std::string_view text, HistogramField made,
                            language::HistComplaints& complaints) {
  made.of_event = field;
  made.type = field.type;
  if (made.view == FieldView::kStack) {
    // The kernel takes the bytes of any field for a stack.
    if (!is_location(field) || field.type.find("long") == std::string::npos) {
      // It does not take stacks for values.
      const bool is_value = made.role == FieldRole::kValue;
      return complaints.refuse(HistMistake::kFieldModifier, is_value ? text : text.substr(text.find('.') + 1));
    }
    make_stack(made);
    return std::make_shared<HistogramField>(std::move(made));
  }
  const auto declaration = event.declaration();
  const auto seen = language::find_filter_field(declaration->fields, field.name);
  const bool is_text = seen && language::is_text(seen->kind);
  const bool is_grouped = made.view == FieldView::kLog2 || made.view == FieldView::kBuckets;
  if (is_text) {
    const bool has_size = seen->kind == language::FilterFieldClass::kText && event.slot != plan::kPrintSlot;
    made.size = has_size ? field.size : kDynamicTextSize;
    if (!is_grouped) made.value_type = hist::ValueType::kText;
  } else {
    if (field.size != 1 && field.size != 2 && field.size != 4 && field.size != 8) {
      return fail(ENOMEM, "'" + field.name + "' is no number and no text");
    }
    made.size = field.size;
    made.is_signed = field.is_signed && !is_grouped;
  }
  return std::make_shared<HistogramField>(std::move(made));
}

}  // namespace

Result<FieldPtr> field_of_event(std::string_view text, const Event& event, Histogram& histogram, HistogramField made,
                                language::HistComplaints& complaints) {
  const std::size_t dot = text.find('.');
  const std::string_view name = text.substr(0, dot);
  const std::string_view view = dot == std::string_view::npos ? std::string_view() : text.substr(dot + 1);
  if (dot != std::string_view::npos) LT_CHECK(parse_view(view, name, made, complaints));

  if (name == "common_timestamp") {
    make_special(made, FieldSource::kTime, 8, "u64");
    made.is_time = true;
    histogram.uses_time = true;
    if (made.in_usecs) histogram.in_usecs = true;
  } else if (name == "common_stacktrace") {
    made.source = FieldSource::kStack;
    made.view = FieldView::kPlain;
    make_stack(made);
  } else if (name == "common_cpu") {
    make_special(made, FieldSource::kCpu, 4, "unsigned int");
  } else if (name == "hitcount") {
    make_special(made, FieldSource::kHitCount, 8, "u64");
  } else {
    const auto declaration = event.declaration();
    const auto& fields = declaration->fields;
    const auto own = std::find_if(fields.begin(), fields.end(), [&](const event::Field& f) { return f.name == name; });
    if (own != fields.end() && own->size > 0) return from_field(*own, event, text, std::move(made), complaints);
    if (const auto common = common_field(name)) return from_field(*common, event, text, std::move(made), complaints);
    if (name == "cpu" || name == "CPU") {
      make_special(made, FieldSource::kCpu, 4, "unsigned int");
      made.of_event = event::Field{"int", std::string(name), 0, 0, true, event::FieldKind::kInteger};
    } else if (name == "stacktrace" || name == "STACKTRACE") {
      made.source = FieldSource::kStack;
      made.view = FieldView::kPlain;
      make_stack(made);
    } else {
      return complaints.refuse(HistMistake::kFieldNotFound, name);
    }
  }
  return std::make_shared<HistogramField>(std::move(made));
}

}  // namespace landtrace::rules
