// The places in programs' code that enabled events name (plan/probe.hpp): where producers' agents learn of them.
// Whoever calls these holds the domain.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "agent/probe_site.hpp"
#include "domain/segment_names.hpp"
#include "plan/probe.hpp"

namespace landtrace::domain {

class ProbeSlots {
 public:
  ProbeSlots(ControlMemory& control, Users& users, Grace& grace);

  // A slot for a place, without hooks; ENOSPC. Agents are told.
  Result<std::uint32_t> take(const agent::ProbeSite& site);
  // The same place, of which more is wanted, or less. ENOSPC, and all is as before.
  Result<void> replace(std::uint32_t slot, const agent::ProbeSite& site);
  // Agents take their jumps out; the slot is for another place after that.
  void give_back(std::uint32_t slot);
  // What happens at the place from here on; none: nothing. ENOSPC, and all is as before.
  Result<void> set_hooks(std::uint32_t slot, std::span<const plan::ProbeHook> hooks, std::uint32_t needs = 0);

  // A number under which hits are counted, from 0 on; ENOSPC.
  Result<std::uint16_t> take_figure();
  void give_back_figure(std::uint16_t figure) { free_figures_.push_back(figure); }
  [[nodiscard]] plan::ProbeFigure figure(std::uint16_t figure) const;

  // Grows when agents have something to do, who wait for that.
  [[nodiscard]] std::uint32_t changes() const { return control_.segment().probe_changes; }
  [[nodiscard]] bool any() const { return taken_ > 0; }

 private:
  [[nodiscard]] plan::ProbeFigure sum(std::uint16_t figure) const;
  void tell_agents();
  Result<std::uint32_t> find_free();

  ControlMemory& control_;
  Users& users_;
  Grace& grace_;
  std::uint32_t first_generation_;
  std::deque<std::uint32_t> free_slots_;  // first in, first out
  std::uint32_t taken_ = 0;
  std::deque<std::uint16_t> free_figures_;
  std::vector<plan::ProbeFigure> before_;  // by figure: counted for whoever had it before
};

}  // namespace landtrace::domain
