// A table as it travels: what means something on its own host alone has become text.
#pragma once

#include <string>
#include <vector>

#include "ipc/histogram_table.hpp"

namespace landtrace::fleet {

// Keys are numbers and texts alone: an address is the function there, a process what it ran, a stack its functions with
// ';' between them. Keys whose field is one of `left_out` say "(left out)". Rows that are alike then are one.
ipc::HistogramTable portable(ipc::HistogramTable table, const std::vector<std::string>& left_out = {});

// The keys of a row of it likewise.
std::vector<ipc::HistogramKeyValue> portable_keys(const ipc::HistogramTable& table,
                                                  const std::vector<ipc::HistogramKeyValue>& keys,
                                                  const std::vector<std::string>& left_out = {});

// Of the fields whose values are added up, or whose spread is counted, one that is to be left out; "" where none is.
// Such a table says nothing without it.
std::string needs_left_out(const ipc::HistogramTable& table, const std::vector<std::string>& left_out);

}  // namespace landtrace::fleet
