// Pages with code that is about to change.
#pragma once

#include <cstdint>
#include <vector>

#include "agent/maps.hpp"
#include "agent/recipe.hpp"

namespace landtrace::agent {

// Makes pages writable as long as it lives. They stay executable: threads run there.
class WritablePages {
 public:
  explicit WritablePages(const std::vector<Mapped>& maps) : maps_(maps) {}
  WritablePages(const WritablePages&) = delete;
  WritablePages& operator=(const WritablePages&) = delete;
  ~WritablePages();
  // In the order of addresses.
  void add(std::uint64_t address);
  void open();
  [[nodiscard]] bool holds(std::uint64_t address) const { return has(address) && has(address + kJumpSize - 1); }

 private:
  struct Run {
    std::uint64_t begin;
    std::uint64_t end;
    int protection;
    const Mapped* mapped;
  };
  void add_page(std::uint64_t begin);
  [[nodiscard]] bool has(std::uint64_t address) const;
  const std::vector<Mapped>& maps_;
  std::vector<Run> runs_;
};

// The copy of a page is made before threads are stopped.
void touch_for_writing(std::uint64_t address);

}  // namespace landtrace::agent
