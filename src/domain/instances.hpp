// Instances: each has rings of its own and listens to events of its own choice.
#pragma once

#include <bitset>
#include <optional>
#include <string>
#include <vector>

#include "domain/control_memory.hpp"
#include "domain/grace.hpp"
#include "domain/pattern.hpp"
#include "domain/users.hpp"
#include "ring/layout.hpp"

namespace landtrace::domain {

struct Instance {
  std::uint32_t index;
  std::string name;
  ring::Geometry geometry;
  bool overwrite;
  std::uint64_t rings;            // offset in data segments
  std::uint32_t consumed;         // offset of std::uint64_t[kMaxUsers][rings of a set] in the control segment
  std::vector<Pattern> patterns;  // events that register later are listened to if one of these matches

  [[nodiscard]] plan::PlanStep record_step() const {
    return {plan::StepKind::kRecord, index, rings, consumed, geometry};
  }
};

class Instances {
 public:
  Instances(ControlMemory& control, Users& users, Grace& grace) : control_(control), users_(users), grace_(grace) {}

  // EEXIST, ENOSPC. The instance listens to nothing yet.
  Result<Instance*> create(std::string name, ring::Geometry geometry, bool overwrite);
  // No plan may name it any more. Its memory is freed when the last producer has left it.
  void destroy(std::uint32_t index);
  [[nodiscard]] Instance* at(std::uint32_t index);
  [[nodiscard]] std::vector<Instance*> all();

  // How far the consumer of a ring is: makes room in discard mode. Ignored where it makes no sense.
  void set_consumed(Instance& instance, std::uint32_t user, std::uint32_t ring, std::uint64_t position);
  // Rings of a set below this one belong to CPUs.
  [[nodiscard]] std::uint32_t first_claimed() const { return control_.segment().cpus; }
  [[nodiscard]] std::uint32_t rings_per_set() const { return control_.segment().cpus + control_.segment().claimed; }

 private:
  ControlMemory& control_;
  Users& users_;
  Grace& grace_;
  std::optional<Instance> instances_[plan::kMaxInstances];
  std::bitset<plan::kMaxInstances> closing_;
};

}  // namespace landtrace::domain
