// What was printed of a recording, and what is missing in it.
#pragma once

#include <cstdint>
#include <map>

#include "output/record.hpp"
#include "reader/loss_count.hpp"

namespace landtrace::cli {

struct Tally {
  reader::LossCount loss;
  std::map<std::uint16_t, std::uint64_t> counts = {};  // events, by id, where only they are wanted
  std::uint64_t printed = 0;
  std::uint64_t lost = 0;  // of what is wanted

  void add_lost(std::uint64_t count) { lost = output::lost_together(lost, count); }
  // What another thread has counted.
  void add(const Tally& other) {
    loss.add(other.loss);
    for (const auto& [id, count] : other.counts) counts[id] += count;
    printed += other.printed;
    add_lost(other.lost);
  }
};

}  // namespace landtrace::cli
