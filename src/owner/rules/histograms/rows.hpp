// A histogram's entries as the hist file shows them.
#pragma once

#include <string>

#include "ipc/histogram_table.hpp"
#include "language/histogram/table_reader.hpp"
#include "rules/histograms/keys.hpp"

namespace landtrace::rules {

// The entries, in order, and what is said behind them about snapshots.
std::string entries_text(const Histogram& histogram, const language::TableContents& contents, AddressNames& names);

// The same with types, and without what actions have kept: for clients. It has no text of the trigger yet.
ipc::HistogramTable table_of(const Histogram& histogram, const language::TableContents& contents, AddressNames& names);

}  // namespace landtrace::rules
