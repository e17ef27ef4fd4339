// A domain whose probes somebody observes, for tests.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "domain/status.hpp"
#include "rules/probes/many_probes.hpp"
#include "rules/probes/probes.hpp"
#include "rules/rules.hpp"

namespace landtrace::rules {

using language::ProbeFamily;

// Notes who is listened to.
class TestObserver final : public ProbeObserver {
 public:
  Result<void> start(const Event& event, const Probe& probe) override {
    if (refuses) return fail(ENOSPC, "no room");
    said += "+" + event.name + std::to_string(probe.places.size());
    return {};
  }
  void defined() override {}
  void stop(const Event& event, const Probe&) override { said += "-" + event.name; }
  void gone(const ProbePlace& place) override { said += "x" + std::to_string(place.offset); }
  ProbeCounts counts(const Event&, const ProbePlace& place) override { return {place.offset, 1}; }
  std::string take() { return std::exchange(said, {}); }

  bool refuses = false;
  std::string said;
};

class FunctionProbesTest : public testing::Test {
 protected:
  FunctionProbesTest() : domain_(*Domain::create({.ring_bytes = 1 << 18})) { rules_.probes().observe(&observer_); }
  ~FunctionProbesTest() override { rules_.probes().observe(nullptr); }

  // 0, or the errno; what the error log gets in log_.
  int define(const std::string& line, ProbeFamily family = ProbeFamily::kUprobe, programs::Asker asker = asker_) {
    const auto made = rules_.probes().define(family, line, asker);
    log_.clear();
    return made ? 0 : log(made.error());
  }
  int define_each(const std::string& line, ProbeFamily family = ProbeFamily::kUprobe) {
    const auto pattern = language::ProbePattern::parse(family, line);
    if (!pattern) return -1;
    const auto remove = [&](Event& last) { return rules_.remove(last, 0); };
    auto many = ManyProbes::begin(rules_.probes(), *pattern, asker_, remove);
    if (!many) return log(many.error());
    const domain::Turn over(std::chrono::microseconds(0));
    auto made = (*many)->go_on(over);
    while (made && !*made) made = (*many)->go_on(over);
    log_ = (*many)->left_out();
    return made ? 0 : log(made.error());
  }
  int log(const language::ProbeRefusal& refusal) {
    log_.clear();
    for (const auto& each : refusal.logged) log_ += each.text() + "@" + std::to_string(each.position);
    return refusal.code;
  }
  Event& event(const char* name) { return *domain_->events().find("g", name); }
  const Probe& probe(const char* name) { return *find_probe(event(name)); }
  Result<void> enable(const char* name, bool on = true) {
    return domain_->listening().set(domain_->top(), {&event(name)}, on);
  }
  Result<void> remove(const char* name, std::size_t place) {
    Event& it = event(name);
    return rules_.probes().remove_place(it, it.defined->definitions[place].serial, asker_.who.uid,
                                        [&](Event& last) { return rules_.remove(last, asker_.who.uid); });
  }
  std::string listed() { return domain::dynamic_events_text(domain_->events()); }

  inline static const programs::Asker asker_{{::geteuid(), ::getegid()}, 0};
  const std::string self_ = std::filesystem::read_symlink("/proc/self/exe");
  std::unique_ptr<Domain> domain_;
  Rules rules_{*domain_};
  TestObserver observer_;
  std::string log_;
};

}  // namespace landtrace::rules
