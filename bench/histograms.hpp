// Histograms of the bench's own events, set up in the process that owns the domain.
#pragma once

#include <map>
#include <string>

#include "domain/domain.hpp"
#include "hist/layout.hpp"

namespace landtrace::bench {

class Histograms {
 public:
  explicit Histograms(domain::Domain& domain) : domain_(domain) {}

  // "count EVENT SIZE": of events "u32 id; u64 value" the values are summed up by id. "latency START DONE MADE": of
  // the same events, MADE "u32 id; u64 value" is made of the us between two with the same id. "hits EVENT": how many
  // events its histogram has counted. "aggregate EVENT": reads what the rings have recorded of it and sums it up by
  // id: the ns that this took.
  std::uint64_t answer(const std::string& line);

 private:
  void count(const std::string& event, std::uint32_t size);
  void measure(const std::string& start, const std::string& done, const std::string& made);
  [[nodiscard]] std::uint64_t hits(const std::string& event) const;
  [[nodiscard]] std::uint64_t aggregate(const std::string& event);
  domain::Event& find(const std::string& name);

  domain::Domain& domain_;
  std::map<std::string, const hist::HistPlan*> plans_;
};

}  // namespace landtrace::bench
