// Executable memory within reach of a jump from a place.
//
// A memfd that is mapped twice: executable where threads run, writable where only this class writes. So no page is
// ever both. What has been written is never changed: a forked child has the same pages, and may be in them. Memory
// goes back only as a whole region, when the object that it was for is gone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "agent/maps.hpp"

namespace landtrace::agent {

class NearMemory {
 public:
  // What a caller has been given: it writes, once, to `writable`, and others run at `address`.
  struct Piece {
    std::uint64_t address = 0;
    std::uint8_t* writable = nullptr;
  };

  NearMemory() = default;
  NearMemory(const NearMemory&) = delete;
  NearMemory& operator=(const NearMemory&) = delete;

  // `address` is 0 where there is no room, or nothing executable may be mapped. Sets *errno_value then.
  Piece take(std::uint64_t place, std::size_t size);
  // Gives back what was taken last, not written to.
  void untake(std::size_t size);

  // Unmaps the regions in which none of these addresses lies. Nobody may be in them any more.
  void keep_only(std::span<const std::uint64_t> used);
  // In a forked child: what there is belongs to the parent, too, and nothing is added to it.
  void leave_as_it_is();
  [[nodiscard]] bool holds(std::uint64_t address) const;
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] int error() const { return error_; }

 private:
  struct Region {
    std::uint64_t address;
    std::uint8_t* writable;
    std::size_t size;
    std::size_t used;
  };
  Region* add(std::uint64_t place);

  std::vector<Region> regions_;
  std::size_t last_ = 0;
  int error_ = 0;
};

}  // namespace landtrace::agent
