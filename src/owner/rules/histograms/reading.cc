#include "rules/histograms/reading.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/input.hpp"
#include "rules/histograms/names_in_turns.hpp"
#include "rules/histograms/rows.hpp"

namespace landtrace::rules {
namespace {

const hist::HistPlan& plan_of(const HistogramReading::One& one) {
  return *reinterpret_cast<const hist::HistPlan*>(one.plan.data());
}

language::TableContents contents_of(const HistogramReading& reading, const HistogramReading::One& one,
                                    const std::stop_token& given_up) {
  return language::read_tables(plan_of(one), reading.segments, given_up);
}

class HistogramSource final : public LongReads::Source {
 public:
  HistogramSource(Domain& domain, HistogramReading reading, std::unique_ptr<AddressNames> names, ReadHistograms read)
      : domain_(domain), reading_(std::move(reading)), names_(std::move(names)), read_(read) {}

  std::string make(const std::stop_token& given_up) override {
    NamesInTurns names(domain_, *names_);
    return read_(reading_, names, given_up);
  }

 private:
  Domain& domain_;
  HistogramReading reading_;
  std::unique_ptr<AddressNames> names_;
  ReadHistograms read_;
};

}  // namespace

std::uint64_t HistogramReading::rows() const {
  std::uint64_t sum = 0;
  for (const One& one : histograms) {
    const hist::HistPlan& plan = plan_of(one);
    for (const std::byte* const segment : segments) sum += language::rows_at_most(plan, segment);
  }
  return sum;
}

std::string text_of(const HistogramReading& reading, AddressNames& names, const std::stop_token& given_up) {
  std::string whole;
  for (const HistogramReading::One& one : reading.histograms) {
    const language::TableContents contents = contents_of(reading, one, given_up);
    whole += fmt::format("{}# event histogram\n#\n# trigger info: {}#\n\n", whole.empty() ? "" : "\n\n", one.line);
    append_entries(whole, *one.histogram, contents, names, given_up);
    whole += fmt::format("\nTotals:\n    Hits: {}\n    Entries: {}\n    Dropped: {}\n", contents.hits,
                         contents.rows.size(), contents.dropped);
  }
  return whole;
}

std::string tables_of(const HistogramReading& reading, AddressNames& names, const std::stop_token& given_up) {
  ipc::HistogramEncoder encoder(reading.histograms.size());
  for (const HistogramReading::One& one : reading.histograms) {
    add_table(encoder, std::string(trimmed(one.line)), *one.histogram, contents_of(reading, one, given_up), names,
              given_up);
  }
  return encoder.take();
}

std::unique_ptr<LongReads::Source> source_of(Domain& domain, HistogramReading reading,
                                             std::unique_ptr<AddressNames> names, ReadHistograms read) {
  return std::make_unique<HistogramSource>(domain, std::move(reading), std::move(names), read);
}

}  // namespace landtrace::rules
