// A histogram's entries as the hist file shows them.
#pragma once

#include <string>

#include "domain/domain.hpp"
#include "rules/histograms/keys.hpp"
#include "language/histogram/table_reader.hpp"

namespace landtrace::rules {

// The entries, in order, and what is said behind them about snapshots.
std::string entries_text(const Histogram& histogram, const language::TableContents& contents, AddressNames& names);

// The whole hist file of an event: all of its histograms; "" where it has none.
std::string histograms_text(Domain& domain, const Instance& instance, const Event& event, AddressNames& names);

// The same with types, and without what actions have kept: for clients.
std::vector<ipc::HistogramTable> histogram_tables(Domain& domain, const Instance& instance, const Event& event,
                                                  AddressNames& names);

}  // namespace landtrace::rules
