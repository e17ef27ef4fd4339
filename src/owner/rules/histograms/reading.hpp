// An event's histograms read: all that it takes is taken in a moment while the domain is held. The reading itself,
// which may take long, can do without the domain.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "rules/histograms/histogram.hpp"
#include "rules/histograms/keys.hpp"
#include "rules/long_reads.hpp"

namespace landtrace::rules {

// Made and let go of with the domain held. What was cleared or taken away meanwhile is read nevertheless: its memory is
// nobody else's before.
struct HistogramReading {
  struct One {
    HistogramPtr histogram;
    std::shared_ptr<const TableRange> range;  // of its entries, also when it has got others
    std::vector<std::uint64_t> plan;          // a copy of its hist::HistPlan
    std::string line;                         // as the trigger file shows it
  };
  std::vector<One> histograms;
  std::vector<std::byte*> segments;  // of all users, who stay as long as a table does

  // At most, by what producers say.
  [[nodiscard]] std::uint64_t rows() const;
  // More than are read while the domain is held.
  [[nodiscard]] bool is_long() const { return rows() > kMostAtOnce; }

  // About a millisecond's work.
  static constexpr std::uint64_t kMostAtOnce = 4096;
};

// The whole hist file of an event; "" where it has no histograms.
std::string text_of(const HistogramReading& reading, AddressNames& names, const std::stop_token& given_up = {});
// The same with types, and without what actions have kept: for clients, as ipc::decode_histograms() takes it.
std::string tables_of(const HistogramReading& reading, AddressNames& names, const std::stop_token& given_up = {});

using ReadHistograms = std::string (*)(const HistogramReading&, AddressNames&, const std::stop_token&);
// To be read without the domain, which is taken for names alone, for a moment each time.
std::unique_ptr<LongReads::Source> source_of(Domain& domain, HistogramReading reading,
                                             std::unique_ptr<AddressNames> names, ReadHistograms read);

}  // namespace landtrace::rules
