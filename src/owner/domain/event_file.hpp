// An event in an instance: what the files of its folder there are about. (The kernel's word for it is event file.)
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "domain/attachment.hpp"

namespace landtrace::domain {

struct EventFile {
  // Offset of the filter::Program in the control segment that says which of the events are recorded; 0: all of them.
  std::uint32_t filter_program = 0;
  // Offset of the plan::TriggerList in the control segment; 0: no triggers.
  std::uint32_t trigger_list = 0;
  // Offsets of bpf::Programs there, each a step of its own: where there are no triggers.
  std::vector<std::uint32_t> programs;
  // Soft mode: the event stays enabled, so that triggers can look at it or switch it, and a switch says whether it is
  // recorded.
  unsigned soft_references = 0;
  std::uint32_t soft_switch = 0;  // cell
  std::unique_ptr<Attachment> rules;

  [[nodiscard]] bool in_soft_mode() const { return soft_references > 0; }
};

}  // namespace landtrace::domain
