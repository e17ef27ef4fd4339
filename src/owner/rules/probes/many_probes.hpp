// An event for each function of a pattern, in turns: all of them, or none.
#pragma once

#include <functional>
#include <optional>

#include "domain/turn.hpp"
#include "rules/probes/probes.hpp"

namespace landtrace::rules {

class ManyProbes {
 public:
  // As of Probes::remove_place().
  using RemoveEvent = std::function<Result<void>(Event&)>;

  // The refusal is as of Probes::define_some(); kOther: there is no such object. `probes` outlives what is returned.
  static language::AcceptedProbe<std::unique_ptr<ManyProbes>> begin(Probes& probes, language::ProbePattern pattern,
                                                                    const programs::Asker& asker,
                                                                    RemoveEvent remove_event);
  // What was made goes again, unless all was.
  ~ManyProbes() { take_back(); }
  ManyProbes(const ManyProbes&) = delete;
  ManyProbes& operator=(const ManyProbes&) = delete;

  // Makes some more. True: all are there. What fails takes back what was made.
  language::AcceptedProbe<bool> go_on(const domain::Turn& turn);
  // What fits the pattern and cannot be probed, for a person; "": nothing.
  [[nodiscard]] const std::string& left_out() const { return objects_.left_out(); }

 private:
  ManyProbes(Probes& probes, language::ProbePattern pattern, const programs::Asker& asker, RemoveEvent remove_event);
  language::AcceptedProbe<bool> define(const std::string& function, const std::string& event);
  void take_back();

  Probes& probes_;
  language::ProbePattern pattern_;
  programs::Asker asker_;
  RemoveEvent remove_event_;
  CallersObjects objects_;
  std::vector<std::pair<std::string, std::string>> wanted_;    // functions, and what their events are called
  std::vector<std::pair<std::uint32_t, std::uint64_t>> made_;  // slots and serials
};

}  // namespace landtrace::rules
