// What the repetitions of each benchmark gave.
#pragma once

#include <benchmark/benchmark.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace landtrace::bench {

// A benchmark whose figure is not CPU time per iteration gives it as this counter.
inline constexpr const char* kValue = "value";

class Results : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;

  // Over the repetitions; nothing if the benchmark did not run or broke.
  [[nodiscard]] std::optional<double> median(const std::string& name) const;
  [[nodiscard]] std::optional<double> median(const std::string& name, const std::string& counter) const;
  [[nodiscard]] double sum(const std::string& name, const std::string& counter) const;
  [[nodiscard]] double largest(const std::string& name) const;
  // What broke: "name: why".
  [[nodiscard]] const std::vector<std::string>& failures() const { return failures_; }
  [[nodiscard]] const std::map<std::string, std::vector<double>>& samples() const { return samples_; }

 private:
  void take(const Run& run);

  std::map<std::string, std::vector<double>> samples_;  // "name", "name/counter"
  std::vector<std::string> failures_;
};

}  // namespace landtrace::bench
