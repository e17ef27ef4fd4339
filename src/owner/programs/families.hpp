// Finds the descendants of processes by looking at all processes there are: for where no fork is told.
#pragma once

#include <unordered_map>
#include <vector>

#include "programs/task.hpp"

namespace landtrace::programs {

struct Ancestor {
  Image image;
  // It called exec itself, so that every process that was only forked and has the same image descends from it, also when those
  // in between are gone. Otherwise an orphan may as well be a relative that has nothing to do with it.
  bool is_root = false;
};
using Ancestors = std::unordered_map<std::uint32_t, Ancestor>;  // by pid

struct Descendant {
  std::uint32_t ancestor;  // the nearest of those given
  std::uint32_t pid;
  std::uint64_t start_ticks;
};
// Those that have not called exec, in no order. What is among the ancestors itself is left out.
std::vector<Descendant> find_descendants(const Ancestors& ancestors, const std::vector<TaskStat>& tasks);

}  // namespace landtrace::programs
