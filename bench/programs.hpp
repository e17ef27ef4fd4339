// eBPF programs at the bench's own events, set up in the process that owns the domain.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bpf_objects/objects.hpp"

namespace landtrace::bench {

class Programs {
 public:
  Programs(domain::Domain& domain, rules::Rules& rules) : domain_(domain), objects_(domain, rules) {}

  // "filter EVENT HOW": of events "u64 d; u32 status; u32 unused" the program looks at both numbers; "count EVENT HOW":
  // of events "u32 id; u64 value" it counts how often there was each id. HOW is "compiled" or "interpreted". "counted
  // EVENT": how many events such a program has counted.
  std::uint64_t answer(const std::string& line);

 private:
  void attach(const std::string& event, const std::vector<bpf::Instruction>& code,
              std::vector<bpf_objects::MapRef> maps);
  void count(const std::string& event);
  [[nodiscard]] std::uint64_t counted(const std::string& event) const;
  [[nodiscard]] bpf_objects::Owner owner();

  domain::Domain& domain_;
  bpf_objects::Objects objects_;
  std::vector<bpf_objects::ProgramRef> programs_;
  std::vector<bpf_objects::LinkRef> links_;
  std::map<std::string, bpf_objects::MapRef> counts_;
};

}  // namespace landtrace::bench
