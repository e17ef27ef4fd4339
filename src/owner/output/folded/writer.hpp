// Stacks, folded: a line for each that occurred, and how often, as flamegraph.pl and others read them.
//
//   app;_start;main;handle 12
//
// An event without a stack stands under its own name: "app;user_events:job 3".
#pragma once

#include <map>
#include <string>

#include "output/export/exporter.hpp"
#include "output/export/frames.hpp"
#include "output/export/target.hpp"

namespace landtrace::output {

class FoldedWriter : public Exporter {
 public:
  explicit FoldedWriter(Target& target) : target_(target) {}

  void object(const MappedObject& object) override { frames_.add(object); }
  void event(const ExportedEvent& event) override;
  void lost(std::uint32_t, std::uint64_t count, std::uint64_t) override { lost_ += count == kLostUnknown ? 1 : count; }
  void end() override;
  // Lines have no room for it.
  [[nodiscard]] std::string complaint() const override;

 private:
  struct Seen {
    std::string comm;
    std::string event;  // empty: it has a stack
    std::uint32_t stack = 0;

    auto operator<=>(const Seen&) const = default;
  };
  Target& target_;
  Frames frames_;
  std::map<Seen, std::uint64_t> counts_;
  std::uint64_t lost_ = 0;
};

}  // namespace landtrace::output
