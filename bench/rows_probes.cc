// The rows of probes.
#include <fmt/format.h>

#include <cmath>

#include "benchmarks.hpp"
#include "rows.hpp"

namespace landtrace::bench {
namespace {

Figure difference(const Figure& a, const Figure& b) { return a && b ? Figure(*a - *b) : std::nullopt; }

Verdict judge(const Figure& figure, double bar) {
  if (!figure) return Verdict::kNotRun;
  return *figure <= bar ? Verdict::kMet : Verdict::kNotMet;
}

class ProbeRows {
 public:
  ProbeRows(const Results& results, const Setting& setting) : results_(results), setting_(setting) {}

  std::vector<Row> make() {
    over_bare("probe at a function's entry, recorded, over a call", "entry", 3, 0.03);
    over_bare("probe at entry and return, two records", "both", 5.5, 0.03);
    alone("latency of a function as a histogram, not recorded", over_bare("latency"), 120);
    alone("refused at a function's entry, size > 4096", over_bare("refused"), 12);
    alone("a text of 16 bytes from memory, over a number", difference(ours("string"), ours("number")), 30);
    no_longer();
    thousand();
    return std::move(rows_);
  }

 private:
  [[nodiscard]] Figure ours(const char* what) const { return results_.median(name::kProbes, what); }
  [[nodiscard]] Figure kernels(const char* what) const { return results_.median(name::kKernelProbes, what); }
  static std::string bare(const char* what) { return std::string(name::kBare) + what; }
  [[nodiscard]] Figure over_bare(const char* what) const { return difference(ours(what), ours(bare(what).c_str())); }

  void ratio(const char* what, const Figure& mine, const char* peer_name, const Figure& peer, double bar,
             const std::string& absent) {
    const Figure ratio = quotient(mine, peer);
    const Verdict verdict = absent.empty() ? judge(ratio, bar) : Verdict::kPeerAbsent;
    rows_.push_back({what, mine, "ns", peer_name, peer, ratio, bar, false, verdict, absent});
  }
  void over_bare(const char* what, const char* function, double of_counter, double of_kernel) {
    const Figure mine = over_bare(function);
    ratio(what, mine, "rdtsc", ours("rdtsc"), of_counter, reason_not_to_probe());
    ratio(what, mine, "the kernel's uprobe", difference(kernels(function), kernels(bare(function).c_str())), of_kernel,
          setting_.tracefs.absent);
  }
  void alone(const char* what, const Figure& mine, double bar, const char* unit = "ns", std::string note = "") {
    rows_.push_back({what, mine, unit, "", {}, {}, bar, false, judge(mine, bar), mine ? note : reason_not_to_probe()});
  }
  // To two digits.
  void no_longer() {
    Figure times = quotient(ours("no_longer"), ours(bare("no_longer").c_str()));
    if (times) times = std::round(*times * 100) / 100;
    alone("a function that is not probed any more, over a call", times, 1, "x");
  }
  void thousand() {
    const auto counted = [&](const char* which) { return results_.median(name::kThousandProbes, which).value_or(0); };
    const std::string note =
        fmt::format("{:.0f} calls interrupted; load {:.1f}", counted("interrupted"), counted("load"));
    alone("1,000 probes into a program with 8 threads", quotient(results_.median(name::kThousandProbes), kNsPerMs), 100,
          "ms", note);
    alone("the same, its threads stopped at a time for",
          quotient(results_.median(name::kThousandProbes, "stopped"), kNsPerMs), 5, "ms");
  }

  const Results& results_;
  const Setting& setting_;
  std::vector<Row> rows_;
};

}  // namespace

std::vector<Row> make_probe_rows(const Results& results, const Setting& setting) {
  return ProbeRows(results, setting).make();
}

}  // namespace landtrace::bench
