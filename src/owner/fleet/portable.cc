#include "fleet/portable.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fleet/table_sum.hpp"

namespace landtrace::fleet {
namespace {

using ipc::KeyKind;

constexpr const char* kLeftOut = "(left out)";

// "took" of "took.log2".
bool is_of(const std::vector<std::string>& fields, const std::string& name) {
  return std::find(fields.begin(), fields.end(), name.substr(0, name.find('.'))) != fields.end();
}

bool is_bucketed(KeyKind kind) { return kind == KeyKind::kLog2 || kind == KeyKind::kRange || kind == KeyKind::kSteps; }

// Means the same on every host.
bool is_number(KeyKind kind) {
  return is_bucketed(kind) || kind == KeyKind::kUnsigned || kind == KeyKind::kSigned || kind == KeyKind::kHex ||
         kind == KeyKind::kFloat || kind == KeyKind::kDouble;
}

std::string text_of(const ipc::HistogramKey& key, const ipc::HistogramKeyValue& value) {
  if (key.kind == KeyKind::kText || !value.text.empty()) return value.text;
  if (key.kind != KeyKind::kStack) return fmt::format("{:#x}", value.number);
  std::string text;
  for (const ipc::HistogramFrame& frame : value.frames) {
    text.append(text.empty() ? "" : ";").append(frame.name.empty() ? fmt::format("{:#x}", frame.address) : frame.name);
  }
  return text;
}

// Numbers and texts that travel as they are.
bool is_portable(const ipc::HistogramTable& table, const std::vector<std::string>& left_out) {
  return std::ranges::all_of(table.keys, [&](const ipc::HistogramKey& key) {
    return is_bucketed(key.kind) || ((is_number(key.kind) || key.kind == KeyKind::kText) && !is_of(left_out, key.name));
  });
}

}  // namespace

ipc::HistogramTable portable(ipc::HistogramTable table, const std::vector<std::string>& left_out) {
  if (is_portable(table, left_out)) return table;
  ipc::HistogramTable made;
  made.trigger = table.trigger;
  made.values = table.values;
  made.hits = table.hits;
  made.dropped = table.dropped;
  std::vector<bool> stays, is_out;
  for (const ipc::HistogramKey& key : table.keys) {
    is_out.push_back(!is_bucketed(key.kind) && is_of(left_out, key.name));
    stays.push_back(is_number(key.kind) && !is_out.back());
    made.keys.push_back(stays.back() ? key : ipc::HistogramKey{KeyKind::kText, key.name, 0, 0});
  }
  for (const ipc::HistogramRow& row : table.rows) {
    ipc::HistogramRow& one = made.rows.emplace_back();
    one.hits = row.hits;
    one.values = row.values;
    for (std::size_t i = 0; i < row.keys.size(); ++i) {
      if (stays[i]) {
        one.keys.push_back({row.keys[i].number, "", {}});
      } else {
        one.keys.push_back({0, is_out[i] ? kLeftOut : text_of(table.keys[i], row.keys[i]), {}});
      }
    }
  }
  TableSum sum;
  sum.add(made);
  return sum.table();
}

std::vector<ipc::HistogramKeyValue> portable_keys(const ipc::HistogramTable& table,
                                                  const std::vector<ipc::HistogramKeyValue>& keys,
                                                  const std::vector<std::string>& left_out) {
  ipc::HistogramTable one;
  one.keys = table.keys;
  one.rows = {{keys, 0, {}}};
  return portable(one, left_out).rows[0].keys;
}

std::string needs_left_out(const ipc::HistogramTable& table, const std::vector<std::string>& left_out) {
  for (const ipc::HistogramKey& key : table.keys) {
    if (is_bucketed(key.kind) && is_of(left_out, key.name)) return key.name.substr(0, key.name.find('.'));
  }
  for (const ipc::HistogramValue& value : table.values) {
    if (is_of(left_out, value.name)) return value.name.substr(0, value.name.find('.'));
  }
  return "";
}

}  // namespace landtrace::fleet
