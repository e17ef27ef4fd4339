// Synthetic events: defined by command, they belong to the domain and stay until they are removed. Histograms make them
// happen, and programs that attach to them. Who calls these holds the domain.
#pragma once

#include "domain/domain.hpp"
#include "event/synthetic.hpp"
#include "language/synthetic/command.hpp"

namespace landtrace::rules {

// The event by its name; nullptr if there is none. Who needs it to stay holds it by Events::add_reference().
inline Event* find_synthetic(Domain& domain, std::string_view name) {
  return domain.events().find(event::kSyntheticSystem, name);
}

// EINVAL, EEXIST as the kernel has them; ENOSPC.
language::AcceptedSynthetic<Event*> define_synthetic(Domain& domain, const language::SyntheticCommand& definition,
                                                     std::uint32_t uid);
// ENOENT; EBUSY while anything refers to it or listens to it, EPERM for another user's.
Result<void> remove_synthetic(Domain& domain, std::string_view name, std::uint32_t uid);

}  // namespace landtrace::rules
