// What formats of stacks have in common: they count, and have no place for what was lost.
#pragma once

#include <fmt/format.h>

#include <string>

#include "output/export/exporter.hpp"
#include "output/export/frames.hpp"
#include "output/export/target.hpp"

namespace landtrace::output {

class StackCounter : public Exporter {
 public:
  explicit StackCounter(Target& target) : target_(target) {}

  void object(const MappedObject& object) override { frames_.add(object); }
  void lost(std::uint32_t, std::uint64_t count, std::uint64_t) override { lost_ += count == kLostUnknown ? 1 : count; }
  [[nodiscard]] std::string complaint() const override {
    return lost_ == 0 ? "" : fmt::format("{} events were lost, and are in no count", lost_);
  }

 protected:
  // Under which an event without a stack is counted.
  static std::string name_of(const EventType& type) { return type.system + ':' + type.name; }

  Target& target_;
  Frames frames_;

 private:
  std::uint64_t lost_ = 0;
};

}  // namespace landtrace::output
