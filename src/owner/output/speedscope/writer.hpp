// Stacks as https://www.speedscope.app reads them: a profile a thread, of how often each stack occurred. An event
// without a stack stands under its own name.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "output/export/exporter.hpp"
#include "output/export/frames.hpp"
#include "output/export/target.hpp"

namespace landtrace::output {

class SpeedscopeWriter : public Exporter {
 public:
  explicit SpeedscopeWriter(Target& target) : target_(target) {}

  void object(const MappedObject& object) override { frames_.add(object); }
  void event(const ExportedEvent& event) override;
  void lost(std::uint32_t, std::uint64_t count, std::uint64_t) override { lost_ += count == kLostUnknown ? 1 : count; }
  void end() override;
  [[nodiscard]] std::string complaint() const override;

 private:
  struct Thread {
    std::string name;
    std::map<std::uint32_t, std::uint64_t> stacks;  // how often, by number
    std::map<std::string, std::uint64_t> events;    // …, by name
  };
  // Of all that were asked for, in the order of their first use.
  std::size_t number_of(const Frame& frame);
  void put_profile(const Thread& thread);

  Target& target_;
  Frames frames_;
  std::map<std::int32_t, Thread> threads_;
  std::map<std::pair<std::string, std::string>, std::size_t> numbers_;  // by file and name
  std::vector<Frame> used_;
  std::uint64_t lost_ = 0;
};

}  // namespace landtrace::output
