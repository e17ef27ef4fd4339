// Brings the probes that somebody listens to into programs: works out how each place is probed, and publishes
// places and what is to happen there in the control segment, where programs' agents find them.
//
//     Probe my/ev (rules)  --- its places --->  Site: /usr/bin/app, 0x1136  --->  ProbeSlot 5    hooks: my/ev, my/back
//     Probe my/back        --- its places --->    "                                 "           site:  recipe, sides
//
// Whoever calls these holds the domain.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>

#include "agent/agent.hpp"
#include "code/analysis.hpp"
#include "domain/domain.hpp"
#include "rules/probes/probes.hpp"

namespace landtrace::probes {

class Publisher final : public rules::ProbeObserver {
 public:
  // `mark`: a file that is there while there are probes, for programs that start then.
  Publisher(domain::Domain& domain, std::string mark) : domain_(domain), mark_(std::move(mark)) {}
  ~Publisher() override;
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  // Called once, when there is the first probe; whoever calls defined() holds the domain. At once where an owner before
  // has left one.
  void set_on_first(std::function<void()> function) {
    on_first_ = std::move(function);
    if (is_marked_) on_first_();
  }

  void defined() override;

  // ENOTSUP with the reason where a place cannot be probed; ENOSPC; ESTALE where an object is not the file any more
  // that it was; what reading it says.
  Result<void> start(const domain::Event& event, const rules::Probe& probe) override;
  void stop(const domain::Event& event, const rules::Probe& probe) override;
  void gone(const rules::ProbePlace& place) override;
  rules::ProbeCounts counts(const domain::Event& event, const rules::ProbePlace& place) override;
  void refused(std::uint32_t pid, std::uint32_t slot, std::uint32_t generation, std::uint8_t reason) override;
  std::vector<rules::RefusedPlace> refusals(const domain::Event& event) override;

 private:
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;  // device, inode, offset
  struct Hook {
    std::uint32_t event;   // its slot
    std::uint64_t serial;  // of the event's place
    plan::ProbeHook shared;
    std::uint16_t maxactive;
    std::int64_t counter;  // of its definition: a program has it from the first that names it to the last
    std::uint32_t needs;   // of plan::ProbeHooks
  };
  struct Site {
    Key key;
    std::optional<std::uint32_t> slot;
    agent::ProbeSite shared{};
    std::vector<Hook> hooks;
    std::vector<std::uint32_t> left_plans{};  // of hooks that are in the published list, and in this one no more
    struct Refused {
      std::string program;
      agent::Reason reason;
    };
    std::map<std::uint32_t, Refused> refused{};  // by process
  };

  using Made = std::vector<std::pair<Site*, Hook>>;
  // The event has these hooks and no others. The plans of those that it had may be freed.
  std::vector<std::uint32_t> change_hooks(std::uint32_t event, const Made& made, Result<void>& published);
  // nullptr: no thread comes to the place.
  Result<Site*> find_site(const rules::ProbePlace& place, std::uint64_t offset, bool is_return);
  Result<std::optional<agent::ProbeSite>> describe(const rules::ProbePlace& place, std::uint64_t offset,
                                                   bool is_return);
  Result<void> add_hooks(const domain::Event& event, const rules::Probe& probe, const rules::ProbePlace& place,
                         const rules::ProbeSpot& spot, Made& made);
  Result<std::int64_t> counter_of(const rules::ProbePlace& place, const rules::ProbeSpot& spot);
  Result<code::Analysis*> analysis_of(const programs::ObjectFile& object);
  Result<Hook> make_hook(const domain::Event& event, const rules::ProbePlace& place, const rules::ProbeSpot& spot,
                         const rules::Probe& probe);
  Result<void> publish(Site& site);
  Result<void> publish_or_keep(Site& site, std::vector<std::uint32_t>& old);
  const std::string& program_of(std::uint32_t pid);
  void free_plan(std::uint32_t plan);
  Result<std::uint16_t> figure_of(std::uint64_t serial);

  domain::Domain& domain_;
  std::string mark_;
  bool is_marked_ = false;
  std::function<void()> on_first_;
  std::map<Key, Site> sites_;
  std::map<std::uint32_t, std::vector<Site*>> sites_of_;        // by event: where it has hooks
  std::unordered_map<std::uint32_t, Site*> sites_with_a_slot_;  // by slot
  std::set<Site*> outdated_;                                    // for whose list there was no room
  // The program that was asked about last: it tells of many places at once.
  struct Named {
    std::uint32_t pid = 0;
    std::string program;
    std::chrono::steady_clock::time_point until{};
  } named_;
  std::map<std::uint64_t, std::uint16_t> figures_;  // by the place's serial: counts outlive a probe's being listened to
  struct Analysed {
    programs::ObjectFile object;
    std::unique_ptr<code::Analysis> analysis;
    std::uint64_t used;
  };
  std::vector<Analysed> analysed_;
  std::uint64_t uses_ = 0;
};

}  // namespace landtrace::probes
