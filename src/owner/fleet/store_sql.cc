#include "fleet/store_sql.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <optional>

#include "fleet/store_row.hpp"

namespace landtrace::fleet {
namespace {

constexpr const char* kIdentity = "host, domain, boot, generation, sequence";

// Fewer rows than ClickHouse has in a block by default: a row is a frame, and may have thousands of buckets.
constexpr unsigned kGranularity = 256;
constexpr std::uint64_t kMostDays = 1'000'000;

// The last frame of a histogram that has gone has no keys: what was counted until then is in those before.
std::string has_keys() { return "shape != " + sql_text(shape_bytes({})); }

std::string where(const Series& series) {
  return fmt::format("order_id = {} AND event = {} AND {}", sql_text(series.order), sql_text(series.event), has_keys());
}

// Of "20261128".
std::optional<std::chrono::sys_days> day_of(std::string_view text) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  const std::chrono::year_month_day day(std::chrono::year(static_cast<int>(number / 10'000)),
                                        std::chrono::month(number / 100 % 100), std::chrono::day(number % 100));
  return day.ok() ? std::optional(std::chrono::sys_days(day)) : std::nullopt;
}

// Backslashes and quotes are escaped in names as in texts.
std::string quoted(std::string_view text, char quote) {
  std::string out(1, quote);
  for (const char c : text) {
    if (c == '\\' || c == quote) out += '\\';
    if (c == '\0') {
      out += "\\0";
    } else {
      out += c;
    }
  }
  return out += quote;
}

// The picked frames, each once, with what was asked for.
std::string picked_rows(const Series& series, const std::string& columns) {
  return fmt::format(
      "SELECT {0}, {1} FROM {2} PREWHERE time_ns IN (SELECT time_ns FROM {3}) WHERE {4} AND ({0}) IN (SELECT {0} FROM "
      "{3}) LIMIT 1 BY {0}",
      kIdentity, columns, kStoreTable, kPicked, where(series));
}

}  // namespace

std::string sql_text(std::string_view text) { return quoted(text, '\''); }
std::string sql_name(std::string_view name) { return quoted(name, '`'); }

// Partitions are by the day on which rows came, not by the time that hosts say: a host with a wrong clock can neither
// make many of them, nor keep its rows for ever.
std::string create_table_sql() {
  return fmt::format(
      "CREATE TABLE IF NOT EXISTS {} (schema UInt16 DEFAULT {}, stored DateTime, order_id String, event String, "
      "time_ns UInt64, host String, domain String, boot String, generation UInt64, sequence UInt64, is_last UInt8, "
      "labels String, shape String, total UInt64, dropped UInt64, starts UInt64, ends UInt64, lost UInt64, "
      "name Array(String), step Array(Array(UInt64)), hits Array(Array(UInt64)), sums Array(Array(Array(UInt64)))) "
      "ENGINE = ReplacingMergeTree() PARTITION BY toYYYYMMDD(stored) "
      "ORDER BY (order_id, event, time_ns, host, domain, boot, generation, sequence) SETTINGS index_granularity = {}",
      kStoreTable, kSchema, kGranularity);
}

std::string schema_sql() {
  return fmt::format(
      "SELECT extract(default_expression, '[0-9]+') FROM system.columns WHERE database = currentDatabase() AND table = "
      "'{}' AND name = 'schema' FORMAT TabSeparated",
      kStoreTable);
}

std::string insert_sql() {
  return fmt::format(
      "INSERT INTO {} (schema, stored, order_id, event, time_ns, host, domain, boot, generation, sequence, is_last, "
      "labels, shape, total, dropped, starts, ends, lost, name, step, hits, sums) FORMAT RowBinary",
      kStoreTable);
}

std::string partitions_sql() {
  return fmt::format(
      "SELECT DISTINCT partition_id, toYYYYMMDD(now()) FROM system.parts WHERE database = currentDatabase() AND table "
      "= "
      "'{}' AND active FORMAT TabSeparated",
      kStoreTable);
}

std::vector<std::string> old_partitions(std::string_view lines, std::uint64_t keep_days) {
  std::map<std::string, std::chrono::sys_days> partitions;
  std::optional<std::chrono::sys_days> today, newest;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    const std::string_view id = line.substr(0, line.find('\t'));
    const auto day = day_of(id);
    today = day_of(line.substr(std::min(line.size(), id.size() + 1)));
    if (!day || !today) continue;
    newest = std::max(newest, day);
    partitions.emplace(id, *day);
  }
  std::vector<std::string> old;
  if (!today || !newest) return old;
  const auto oldest = std::min(*today, *newest) - std::chrono::days(std::min<std::uint64_t>(keep_days, kMostDays));
  for (const auto& [id, day] : partitions) {
    if (day < oldest) old.push_back(id);
  }
  return old;
}

std::string drop_partition_sql(const std::string& id) {
  return fmt::format("ALTER TABLE {} DROP PARTITION ID {}", kStoreTable, sql_text(id));
}

// No frame is newer than its row: a host's clock may be ahead.
std::string orders_sql(const std::string& order, const Period& period) {
  return fmt::format(
      "SELECT order_id, event, any(shape), min(time_ns), least(max(time_ns), (toUInt64(max(stored)) + 1) * 1000000000) "
      "AS newest, uniqExact(host) FROM {} WHERE {} AND {}time_ns >= {}{} GROUP BY order_id, event ORDER BY newest "
      "FORMAT RowBinary",
      kStoreTable, has_keys(), order.empty() ? "" : "order_id = " + sql_text(order) + " AND ", period.from_ns,
      period.is_open ? "" : fmt::format(" AND time_ns < {}", period.until_ns));
}

std::string seen_sql(const Series& series, const Period& period, std::uint64_t after_ns, std::uint64_t before_ns) {
  const std::string slot = fmt::format("toUInt32(if(time_ns < {0}, 0, least(1 + intDiv(time_ns - {0}, {1}), {2})))",
                                       period.from_ns, period.slot_ns(), period.slots() + (period.is_open ? 0 : 1));
  return fmt::format(
      "SELECT host, domain, boot, generation, {} AS slot, max(sequence) AS newest, argMax(time_ns, sequence) FROM {} "
      "WHERE {} AND time_ns >= {} AND time_ns < {} GROUP BY host, domain, boot, generation, slot FORMAT RowBinary",
      slot, kStoreTable, where(series), after_ns, before_ns);
}

std::string heads_sql(const Series& series) {
  return picked_rows(series, "labels, shape, total, dropped, starts, ends, lost") + " FORMAT RowBinary";
}

std::string names_sql(const Series& series) {
  return fmt::format(
      "SELECT DISTINCT sipHash64(one), one FROM (SELECT arrayJoin(name) AS one FROM ({})) FORMAT RowBinary",
      picked_rows(series, "name"));
}

// Names are texts, and there are many buckets of each: a number in their place is grouped by in half the time.
std::string rows_sql(const Series& series, const ipc::HistogramTable& shape) {
  std::string lists, made, items, sums;
  for (std::size_t i = 0; i < shape.values.size(); ++i) {
    lists += fmt::format(", list_{}", i);
    made += fmt::format(", sums[{}] AS list_{}", i + 1, i);
    items += fmt::format(", list_{0} AS item_{0}", i);
    const ipc::HistogramValue& value = shape.values[i];
    sums += value.is_kept && value.is_signed ? fmt::format(", toUInt64(max(toInt64(item_{})))", i)
                                             : fmt::format(", {}(item_{})", value.is_kept ? "max" : "sum", i);
  }
  const std::string joined =
      fmt::format("SELECT tag, name, step, hits, sums FROM ({}) AS found ALL INNER JOIN {} USING ({})",
                  picked_rows(series, "name, step, hits, sums"), kPicked, kIdentity);
  return fmt::format(
      "SELECT tag, id, bucket, sum(count){} FROM (SELECT tag, sipHash64(one) AS id, steps, counts{} FROM ({}) ARRAY "
      "JOIN name AS one, step AS steps, hits AS counts{}) ARRAY JOIN steps AS bucket, counts AS count{} "
      "GROUP BY tag, id, bucket FORMAT RowBinary",
      sums, lists, joined, made, items);
}

}  // namespace landtrace::fleet
