// What the tree keeps about an instance, and the domain does not. The instance's nodes share it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "domain/domain.hpp"
#include "tracefs/cpu_mask.hpp"
#include "tracefs/logged_errors.hpp"
#include "tracefs/trace/trace_instance.hpp"

namespace landtrace::tracefs {

class Context;

class InstanceState {
 public:
  InstanceState(Context& context, const domain::Instance& instance);

  // ENODEV once it is gone.
  [[nodiscard]] Result<domain::Instance*> get() const;
  // Its events in the order in which its files list them: the newest first; after them the events that are older than
  // the instance, the oldest first.
  [[nodiscard]] std::vector<domain::Event*> events() const;

  Context& context;
  const std::uint32_t index;
  const std::uint64_t serial;
  LoggedErrors errors;
  CpuMask cpus;
  const std::shared_ptr<TraceInstance> trace;
  // Open files keep the instance from being removed. Counted up with the domain held, which pairs with whoever removes
  // it; counted down by whoever closes, without.
  std::atomic<unsigned> open_files{0};

 private:
  std::uint64_t first_new_event_;
};

using InstancePtr = std::shared_ptr<InstanceState>;

}  // namespace landtrace::tracefs
