// A histogram of an event in an instance: its command with everything found that it names.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rules/domain_names.hpp"
#include "rules/histograms/field.hpp"
#include "language/histogram/action_text.hpp"
#include "language/histogram/attributes.hpp"
#include "language/histogram/plan_builder.hpp"

namespace landtrace::rules {

// A range in every user's data segment, for as long as somebody has this. Whoever lets go of it holds the domain.
class TableRange {
 public:
  TableRange(Users& users, Grace& grace, std::uint64_t offset_in, std::uint64_t size)
      : offset(offset_in), users_(users), grace_(grace), size_(size) {
    users_.keep_all();
  }
  TableRange(const TableRange&) = delete;
  TableRange& operator=(const TableRange&) = delete;
  // It is not counted in any more; producers may still be at it.
  ~TableRange() {
    users_.keep_no_more();
    grace_.after_readers([&users = users_, gone = offset, size = size_] { users.free(gone, size); },
                         domain::Holders::of_own_memory());
  }

  const std::uint64_t offset;

 private:
  Users& users_;
  Grace& grace_;
  std::uint64_t size_;
};

// A histogram's entries. Named histograms share a table; whoever refers to variables in it keeps it.
struct HistogramTable {
  std::shared_ptr<const TableRange> range;  // whoever reads it keeps it, too
  const language::TableShape shape;
  std::vector<std::shared_ptr<const TableRange>> replaced;  // that producers may still fill
};

struct HistogramSortKey {
  std::size_t field = 0;  // 0: the hit count; then the other values, then the keys
  bool descending = false;

  friend bool operator==(const HistogramSortKey&, const HistogramSortKey&) = default;
};

struct HistogramAction {
  language::ActionText text;
  FieldPtr tracked;              // of onmax and onchange: the own variable
  std::vector<FieldPtr> params;  // of trace: fields, own variables, others'; of save: what is saved
  std::uint32_t synthetic = 0;   // of trace: the event's slot
};

// A histogram that was made on another event so that a field of it could be a parameter here.
struct HiddenHistogram {
  std::uint64_t event_serial = 0;
  std::uint32_t event_slot = 0;
  std::string command;
};

struct Histogram {
  std::uint32_t instance = 0;
  std::uint32_t event_slot = 0;
  std::uint64_t event_serial = 0;
  std::string system;
  std::string event;

  language::HistAttributes attributes;
  std::vector<language::VariableDefinition> definitions;
  std::vector<FieldPtr> values;  // the first is the hit count
  std::vector<FieldPtr> variables;
  std::vector<FieldPtr> keys;
  std::vector<HistogramSortKey> sort;
  std::vector<HistogramAction> actions;
  std::vector<FieldPtr> references;  // to variables of others and, for actions, to own ones
  std::size_t hidden_variables = 0;  // that the kernel needs for actions: of the limit on variables
  std::vector<HiddenHistogram> hidden;
  bool uses_time = false;
  bool in_usecs = false;  // all of its times are

  std::shared_ptr<HistogramTable> table;
  std::vector<std::uint32_t> held_events;  // synthetic events that its actions make, by slot
  bool holds_snapshot = false;             // an action takes snapshots

  [[nodiscard]] const HistogramField* variable(std::string_view name) const {
    for (const FieldPtr& field : variables) {
      if (field->variable == name) return field.get();
    }
    return nullptr;
  }
  [[nodiscard]] const FieldPtr& sorted_field(const HistogramSortKey& key) const {
    return key.field < values.size() ? values[key.field] : keys[key.field - values.size()];
  }
};

using HistogramPtr = std::shared_ptr<Histogram>;

// Whether a command that says `one` means `other`: the kernel's idea of a histogram being there already. Conditions are
// not looked at.
bool is_same_histogram(const Histogram& one, const Histogram& other);
// Whether their keys have the same types, so that a variable of one is found by the key of the other.
bool has_compatible_keys(const Histogram& one, const Histogram& other);

}  // namespace landtrace::rules
