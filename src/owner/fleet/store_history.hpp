// What was counted in a period, from a store.
#pragma once

#include <functional>
#include <string>

#include "fleet/history.hpp"

namespace landtrace::fleet {

// Runs SQL. `picked`: rows of kPickedColumns in RowBinary, which the SQL sees as a table kPicked; "": it has none.
using StoreQuery = std::function<Result<std::string>(const std::string& sql, const std::string& picked)>;

// EINVAL for an expression that makes no sense; EPROTO for a store that answers something else than it was asked.
Result<History> ask_store(const StoreQuery& query, const HistoryQuestion& question);

}  // namespace landtrace::fleet
