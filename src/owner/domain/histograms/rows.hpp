// A histogram's entries as the hist file shows them.
#pragma once

#include <string>

#include "domain/domain.hpp"
#include "domain/histograms/histogram.hpp"
#include "language/histogram/table_reader.hpp"

namespace landtrace::domain {

// What is at addresses of the producing programs.
class AddressNames {
 public:
  virtual ~AddressNames() = default;
  // "function", or "0x…" where none is known.
  virtual std::string symbol(std::uint64_t address) = 0;
  // "function+0x10".
  virtual std::string symbol_with_offset(std::uint64_t address) = 0;
  // The same for where a call returns to.
  virtual std::string frame(std::uint64_t address) = 0;
};

// The entries, in order, and what is said behind them about snapshots.
std::string entries_text(const Histogram& histogram, const language::TableContents& contents, AddressNames& names);

// The whole hist file of an event: all of its histograms; "" where it has none.
std::string histograms_text(Domain& domain, const Instance& instance, const Event& event, AddressNames& names);

}  // namespace landtrace::domain
