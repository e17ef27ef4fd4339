// Tests put together what an owner would answer.
#pragma once

#include "cli/histogram/view.hpp"
#include "ipc/histogram_table.hpp"

namespace landtrace::cli {

inline const HistShape kSpread{"done", {"route"}, {}, "took_ns", true};

// Five events by route (a text), spread by took_ns; two more found no room.
inline ipc::HistogramTable spread_by_route() {
  ipc::HistogramTable table;
  table.keys = {{ipc::KeyKind::kText, "route", 0}, {ipc::KeyKind::kLog2, "took_ns", 0}};
  table.values = {{"took_ns", false}};
  table.rows = {{{{0, "/b", {}}, {3, "", {}}}, 1, {8}},
                {{{0, "/a", {}}, {10, "", {}}}, 1, {1000}},
                {{{0, "/a", {}}, {8, "", {}}}, 3, {600}}};
  table.hits = 5;
  table.dropped = 2;
  return table;
}

}  // namespace landtrace::cli
