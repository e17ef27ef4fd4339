#include "rules/histograms/rows.hpp"

#include <fmt/format.h>

#include "rules/histograms/keys_text.hpp"
#include "rules/histograms/row_order.hpp"

namespace landtrace::rules {
namespace {

using hist::Deed;
using hist::Handler;

// show(field, its index among a row's sums) for what is added up and shown. The kernel adds up expressions, too, and
// shows nothing of them.
template <typename Show>
void for_each_sum(const Histogram& histogram, const Show& show) {
  for (std::size_t i = 1; i < histogram.values.size(); ++i) {
    const HistogramField& field = *histogram.values[i];
    if (field.source != FieldSource::kExpression) show(field, i - 1);
  }
}

// The same for what actions keep: show(action, its index).
template <typename Show>
void for_each_kept(const Histogram& histogram, const Show& show) {
  for (std::size_t i = 0; i < histogram.actions.size(); ++i) {
    const language::ActionText& action = histogram.actions[i].text;
    if (action.deed != Deed::kSnapshot && action.handler != Handler::kOnMatch) show(histogram.actions[i], i);
  }
}

std::string values_text(const Histogram& histogram, const language::TableRow& row) {
  std::string text;
  if (!histogram.attributes.no_hitcount) text += fmt::format(" hitcount: {:10}", row.hitcount);
  for_each_sum(histogram, [&](const HistogramField& field, std::size_t i) {
    const bool is_hex = field.view == FieldView::kHex;
    text += is_hex ? fmt::format("  {}: {:10x}", name_of(field), row.sums[i])
                   : fmt::format("  {}: {:10}", name_of(field), row.sums[i]);
  });
  return text;
}

std::string saved_text(const Histogram& histogram, const language::TableRow& row) {
  std::string text;
  for (std::size_t i = 0; i < histogram.actions.size(); ++i) {
    const HistogramAction& action = histogram.actions[i];
    if (action.text.deed != Deed::kSave) continue;
    for (std::size_t j = 0; j < action.params.size(); ++j) {
      const language::TableValue& saved = row.actions[i].saved[j];
      const std::string& name = action.text.params[j];
      text += action.params[j]->is_text() ? fmt::format("  {}: {:<32}", name, saved.text)
                                          : fmt::format("  {}: {:10}", name, saved.number);
    }
  }
  return text;
}

std::string actions_text(const Histogram& histogram, const language::TableRow& row) {
  std::string text;
  for_each_kept(histogram, [&](const HistogramAction& action, std::size_t i) {
    const char* const name = action.text.handler == Handler::kOnMax ? "max" : "changed";
    text += fmt::format("\n\t{}: {:10}", name, row.actions[i].tracked);
    text += saved_text(histogram, row);
  });
  return text;
}

std::string snapshot_text(const Histogram& histogram, const language::TableContents& contents, AddressNames& names) {
  for (std::size_t i = 0; i < histogram.actions.size(); ++i) {
    const language::ActionText& action = histogram.actions[i].text;
    if (action.deed != Deed::kSnapshot) continue;
    const language::SnapshotTaken& snapshot = contents.snapshots[i];
    if (!snapshot.is_taken) return "";
    return fmt::format(
        "\nSnapshot taken (see tracing/snapshot).  Details:\n"
        "\ttriggering value {{ {}({}) }}: {:10}\ttriggered by event with key: {}\n",
        action.handler == Handler::kOnMax ? "onmax" : "onchange", action.tracked, snapshot.value,
        key_text(histogram, key_values(histogram, snapshot.key, snapshot.comm, names)));
  }
  return "";
}

ipc::HistogramRow row_of(const Histogram& histogram, const language::TableRow& row, AddressNames& names) {
  ipc::HistogramRow made{key_values(histogram, row.key, row.comm, names), row.hitcount, {}};
  for_each_sum(histogram, [&](const HistogramField&, std::size_t i) { made.values.push_back(row.sums[i]); });
  for_each_kept(histogram,
                [&](const HistogramAction&, std::size_t i) { made.values.push_back(row.actions[i].tracked); });
  return made;
}

}  // namespace

std::string entries_text(const Histogram& histogram, const language::TableContents& contents, AddressNames& names) {
  std::string text;
  for (const language::TableRow* const row : rows_in_order(histogram, contents.rows)) {
    text += key_text(histogram, key_values(histogram, row->key, row->comm, names));
    text += values_text(histogram, *row);
    text += actions_text(histogram, *row);
    text += '\n';
  }
  return text + snapshot_text(histogram, contents, names);
}

ipc::HistogramTable table_of(const Histogram& histogram, const language::TableContents& contents, AddressNames& names) {
  ipc::HistogramTable table;
  for (const FieldPtr& key : histogram.keys) table.keys.push_back(key_of(*key));
  for_each_sum(histogram, [&](const HistogramField& field, std::size_t) {
    table.values.push_back({name_of(field), field.view == FieldView::kHex, field.is_signed, false});
  });
  for_each_kept(histogram, [&](const HistogramAction& action, std::size_t) {
    table.values.push_back({action.text.tracked, false, false, true});
  });
  for (const language::TableRow* const row : rows_in_order(histogram, contents.rows)) {
    table.rows.push_back(row_of(histogram, *row, names));
  }
  table.hits = contents.hits;
  table.dropped = contents.dropped;
  return table;
}

}  // namespace landtrace::rules
