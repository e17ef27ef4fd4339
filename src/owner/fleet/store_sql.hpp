// What a store is asked, in SQL that ClickHouse takes from 18.16 on.
//
// A question over a period takes three steps. The first looks at small columns alone: of each histogram of each host
// the newest frame in each slot. Which of them count, and where, is picks_of(). The other two are sent these frames as
// a table `picked`, and read their rows: labels and totals, and the sums of all buckets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/period.hpp"
#include "ipc/histogram_table.hpp"

namespace landtrace::fleet {

inline constexpr const char* kStoreTable = "landtrace_frames";
// What is sent beside a question.
inline constexpr const char* kPicked = "picked";
inline constexpr const char* kPickedColumns =
    "time_ns UInt64, host String, domain String, boot String, generation UInt64, sequence UInt64, tag UInt32";

std::string sql_text(std::string_view text);
// A name in backquotes.
std::string sql_name(std::string_view name);

std::string create_table_sql();
// The schema's number, as the default of the column: "1".
std::string schema_sql();
std::string insert_sql();
// Lines of each partition, a day as YYYYMMDD, and of the store's day of now.
std::string partitions_sql();
// Of these lines the partitions that are more than so many days older than the newest one, and than the store's day of
// now: a clock that is ahead, there or at a collector, makes nothing old.
std::vector<std::string> old_partitions(std::string_view lines, std::uint64_t keep_days);
std::string drop_partition_sql(const std::string& id);

// Orders and events that have frames in the period: order_id, event, shape, oldest, newest, hosts. `order`: "" is any.
std::string orders_sql(const std::string& order, const Period& period);

// Of one order's event.
struct Series {
  std::string order;
  std::string event;
};
// host, domain, boot, generation, slot, sequence, time_ns; of frames from `after_ns` to before `before_ns`.
std::string seen_sql(const Series& series, const Period& period, std::uint64_t after_ns, std::uint64_t before_ns);
// host, domain, boot, generation, sequence, labels, shape, total, dropped, starts, ends, lost
std::string heads_sql(const Series& series);
// id, name
std::string names_sql(const Series& series);
// tag, id of the name, step, hits, then each of so many values
std::string rows_sql(const Series& series, const ipc::HistogramTable& shape);

}  // namespace landtrace::fleet
