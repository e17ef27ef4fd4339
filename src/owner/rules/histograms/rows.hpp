// A histogram's entries as the hist file shows them.
#pragma once

#include <stop_token>
#include <string>

#include "ipc/histogram_table.hpp"
#include "language/histogram/table_reader.hpp"
#include "rules/histograms/keys.hpp"

namespace landtrace::rules {

// The entries, in order, and what is said behind them about snapshots. Once it is given up it ends in the middle.
void append_entries(std::string& to, const Histogram& histogram, const language::TableContents& contents,
                    AddressNames& names, const std::stop_token& given_up);

// The same with types, and without what actions have kept: for clients.
void add_table(ipc::HistogramEncoder& encoder, const std::string& trigger, const Histogram& histogram,
               const language::TableContents& contents, AddressNames& names, const std::stop_token& given_up);

}  // namespace landtrace::rules
