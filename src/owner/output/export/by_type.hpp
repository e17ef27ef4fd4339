// What a format makes of each type of event once: what is the same in all events of the type.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "output/record.hpp"

namespace landtrace::output {

// `Made` is made of an EventType, which need not outlive it.
template <typename Made>
class ByType {
 public:
  const Made& of(const EventType& type) { return made_.try_emplace(type.id, type).first->second; }
  // Its id has got another type.
  void forget(std::uint16_t id) { made_.erase(id); }

 private:
  std::unordered_map<std::uint16_t, Made> made_;
};

}  // namespace landtrace::output
