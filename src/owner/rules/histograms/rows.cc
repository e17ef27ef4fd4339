#include "rules/histograms/rows.hpp"

#include <fmt/format.h>

#include <iterator>

#include "base/large_pages.hpp"
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

// What rows say, found out once for all of them.
class RowsText {
 public:
  RowsText(const Histogram& histogram, AddressNames& names) : histogram_(histogram), keys_(histogram, names) {
    for_each_sum(histogram, [this](const HistogramField& field, std::size_t i) {
      sums_.push_back({i, field.view == FieldView::kHex, "  " + name_of(field) + ": "});
    });
    for_each_kept(histogram, [this](const HistogramAction& action, std::size_t i) {
      kept_.push_back({i, action.text.handler == Handler::kOnMax ? "\n\tmax: " : "\n\tchanged: "});
    });
  }

  [[nodiscard]] const KeysText& keys() const { return keys_; }

  void append(std::string& to, const language::TableRow& row) const {
    keys_.append(to, row.key, row.comm);
    if (!histogram_.attributes.no_hitcount) {
      to += " hitcount: ";
      append_number(to, row.hitcount);
    }
    for (const Sum& sum : sums_) {
      to += sum.begin;
      if (sum.is_hex) {
        fmt::format_to(std::back_inserter(to), "{:10x}", row.sums[sum.index]);
      } else {
        append_number(to, row.sums[sum.index]);
      }
    }
    for (const Kept& kept : kept_) {
      to += kept.begin;
      append_number(to, row.actions[kept.action].tracked);
      append_saved(to, row);
    }
    to += '\n';
  }

 private:
  struct Sum {
    std::size_t index;
    bool is_hex;
    std::string begin;
  };
  struct Kept {
    std::size_t action;
    std::string_view begin;
  };

  void append_saved(std::string& to, const language::TableRow& row) const {
    for (std::size_t i = 0; i < histogram_.actions.size(); ++i) {
      const HistogramAction& action = histogram_.actions[i];
      if (action.text.deed != Deed::kSave) continue;
      for (std::size_t j = 0; j < action.params.size(); ++j) {
        const language::TableValue& saved = row.actions[i].saved[j];
        const std::string& name = action.text.params[j];
        to += action.params[j]->is_text() ? fmt::format("  {}: {:<32}", name, saved.text)
                                          : fmt::format("  {}: {:10}", name, saved.number);
      }
    }
  }

  const Histogram& histogram_;
  KeysText keys_;
  std::vector<Sum> sums_;
  std::vector<Kept> kept_;
};

std::string snapshot_text(const Histogram& histogram, const language::TableContents& contents, const KeysText& keys) {
  for (std::size_t i = 0; i < histogram.actions.size(); ++i) {
    const language::ActionText& action = histogram.actions[i].text;
    if (action.deed != Deed::kSnapshot) continue;
    const language::SnapshotTaken& snapshot = contents.snapshots[i];
    if (!snapshot.is_taken) return "";
    std::string key;
    keys.append(key, snapshot.key, snapshot.comm);
    return fmt::format(
        "\nSnapshot taken (see tracing/snapshot).  Details:\n"
        "\ttriggering value {{ {}({}) }}: {:10}\ttriggered by event with key: {}\n",
        action.handler == Handler::kOnMax ? "onmax" : "onchange", action.tracked, snapshot.value, key);
  }
  return "";
}

// Rows are looked at in an order in which they do not lie. visit(row)
template <typename Visit>
void for_each_in_order(const Histogram& histogram, const language::TableRows& rows, const std::stop_token& given_up,
                       const Visit& visit) {
  constexpr std::size_t kAhead = 8;
  constexpr std::size_t kLookEvery = 1024;
  const std::vector<std::uint32_t> order = rows_in_order(histogram, rows);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i % kLookEvery == 0 && given_up.stop_requested()) return;
    if (i + kAhead < order.size()) rows.prefetch(order[i + kAhead]);
    visit(rows[order[i]]);
  }
}

// All but the rows, and the text of the trigger.
ipc::HistogramTable head_of(const Histogram& histogram, const language::TableContents& contents) {
  ipc::HistogramTable table;
  for (const FieldPtr& key : histogram.keys) table.keys.push_back(key_of(*key));
  for_each_sum(histogram, [&](const HistogramField& field, std::size_t) {
    table.values.push_back({name_of(field), field.view == FieldView::kHex, field.is_signed, false});
  });
  for_each_kept(histogram, [&](const HistogramAction& action, std::size_t) {
    table.values.push_back({action.text.tracked, false, false, true});
  });
  table.hits = contents.hits;
  table.dropped = contents.dropped;
  return table;
}

}  // namespace

void append_entries(std::string& to, const Histogram& histogram, const language::TableContents& contents,
                    AddressNames& names, const std::stop_token& given_up) {
  const RowsText text(histogram, names);
  constexpr std::size_t kFirst = 64;
  const std::size_t before = to.size();
  std::size_t done = 0;
  for_each_in_order(histogram, contents.rows, given_up, [&](const language::TableRow& row) {
    text.append(to, row);
    // The others are about as long as the first ones.
    if (++done == kFirst) {
      reserve_large(to, to.size() + (to.size() - before) / kFirst * contents.rows.size() * 5 / 4);
    }
  });
  to += snapshot_text(histogram, contents, text.keys());
}

void add_table(ipc::HistogramEncoder& encoder, const std::string& trigger, const Histogram& histogram,
               const language::TableContents& contents, AddressNames& names, const std::stop_token& given_up) {
  ipc::HistogramTable head = head_of(histogram, contents);
  head.trigger = trigger;
  encoder.begin(head, contents.rows.size());
  const RowKeys keys(histogram, names);
  std::vector<std::size_t> sums;
  std::vector<std::size_t> kept;
  for_each_sum(histogram, [&](const HistogramField&, std::size_t i) { sums.push_back(i); });
  for_each_kept(histogram, [&](const HistogramAction&, std::size_t i) { kept.push_back(i); });
  for_each_in_order(histogram, contents.rows, given_up, [&](const language::TableRow& row) {
    for (std::size_t i = 0; i < keys.all().size(); ++i) {
      if (keys.is_number(i)) {
        encoder.number(keys.number(i, row.key));
      } else {
        encoder.key(keys.all()[i].kind, keys.value(i, row.key, row.comm));
      }
    }
    encoder.number(row.hitcount);
    for (const std::size_t i : sums) encoder.number(row.sums[i]);
    for (const std::size_t i : kept) encoder.number(row.actions[i].tracked);
  });
}

}  // namespace landtrace::rules
