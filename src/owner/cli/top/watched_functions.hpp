// `landtrace top-functions`: calls of many functions and how long they take, in histograms that the programs fill.
// Nothing is recorded. Each function has a number, which its places fetch as an argument, whatever the address is at
// which a program has it:
//
//     probes:top_calls        hist:keys=id
//     probes:top_returns      hist:keys=id,ns.log2:vals=ns:max=ns:onmax($max).save(id)
#pragma once

#include <optional>
#include <string>

#include "cli/histogram/watch.hpp"
#include "cli/probes/probe_set.hpp"
#include "cli/top/table.hpp"

namespace landtrace::cli {

class WatchedFunctions : public Watched {
 public:
  struct Request {
    TopOrder order = TopOrder::kCalls;
    std::size_t rows = 0;  // shown at most; 0: all
  };
  WatchedFunctions(const WatchOptions& options, FunctionSet set, Request request)
      : options_(options), set_(std::move(set)), request_(request) {}

  Result<void> begin(Workplace& place, consumer::Session& session) override;
  Result<std::string> text(const HistShape& shape, const WatchOptions& options, std::size_t columns) override;
  Result<HistView> view(const HistShape& /*shape*/) override { return HistView(); }
  void leave() override { probes_.reset(); }
  [[nodiscard]] std::vector<std::string> named() const override { return {}; }  // they are there
  [[nodiscard]] std::vector<std::string> probes() const override { return {calls_, returns_}; }
  [[nodiscard]] Result<void> fits(const output::EventType& /*type*/) const override { return {}; }

 private:
  const WatchOptions& options_;
  FunctionSet set_;
  Request request_;
  std::optional<ProbeSet> probes_;
  consumer::Session* session_ = nullptr;
  std::string calls_, returns_;  // SYSTEM:EVENT
};

}  // namespace landtrace::cli
