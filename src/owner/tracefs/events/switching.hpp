// Many events that are listened to from here on, or no more, in turns.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tracefs/instance_state.hpp"
#include "tracefs/rest.hpp"

namespace landtrace::tracefs {

class Switching final : public Work {
 public:
  Switching(InstancePtr state, const std::vector<domain::Event*>& events, bool on);

  // What failed first is told when all the others are done, as domain::Listening has it.
  Result<bool> go_on(const domain::Turn& turn) override;

 private:
  std::vector<domain::Event*> take_some();

  InstancePtr state_;
  bool on_;
  // By slot and serial: between two turns some may go, and others take their slots.
  std::vector<std::pair<std::uint32_t, std::uint64_t>> events_;
  std::size_t next_ = 0;
  Result<void> result_;
};

}  // namespace landtrace::tracefs
