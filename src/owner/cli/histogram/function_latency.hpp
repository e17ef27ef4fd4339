// `landtrace latency --function`: how long the calls of a function take, in a histogram that the programs fill. Nothing
// is recorded, so nothing is lost however often it is called:
//
//     probes:run_ret   latency_ns=$elapsed:u64 BY…   hist:keys=BY…,latency_ns.log2=32:vals=latency_ns
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/histogram/watch.hpp"
#include "cli/probes/probe_set.hpp"

namespace landtrace::cli {

class WatchedFunction : public Watched {
 public:
  static constexpr const char* kLatencyField = "latency_ns";

  struct Request {
    ProbeText function;           // its arguments are those of the return
    std::vector<std::string> by;  // names of these, or fields that every event has
  };
  // A BY may be a fetch argument itself ("$arg1:s32", "size=$arg1"). EINVAL.
  static Result<Request> request_of(const std::string& function, const std::vector<std::string>& by);

  WatchedFunction(const WatchOptions& options, Request request) : options_(options), request_(std::move(request)) {}

  Result<void> begin(Workplace& place, consumer::Session& session) override;
  Result<HistView> view(const HistShape& shape) override;
  void leave() override { probes_.reset(); }
  [[nodiscard]] std::vector<std::string> named() const override { return {}; }  // they are there
  [[nodiscard]] std::vector<std::string> probes() const override { return {returns_}; }
  [[nodiscard]] Result<void> fits(const output::EventType& /*type*/) const override { return {}; }

 private:
  const WatchOptions& options_;
  Request request_;
  std::optional<ProbeSet> probes_;
  consumer::Session* session_ = nullptr;
  std::string returns_;  // SYSTEM:EVENT
};

}  // namespace landtrace::cli
