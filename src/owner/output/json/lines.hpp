// A recording as JSON, one object a line, as `report --json` prints it; a stack is a member of its event.
#pragma once

#include "output/export/exporter.hpp"
#include "output/export/target.hpp"
#include "output/json/line.hpp"

namespace landtrace::output {

class JsonLines : public Exporter {
 public:
  explicit JsonLines(Target& target) : target_(target) {}

  void type(const EventType& type) override { lines_.know(type); }
  void object(const MappedObject& object) override { names_.objects().add(object); }
  void event(const ExportedEvent& event) override;
  void lost(std::uint32_t cpu, std::uint64_t count, std::uint64_t time_ns) override;

 private:
  Target& target_;
  symbols::Symbols symbols_;
  StackNames names_{&symbols_};
  JsonLineWriter lines_{&names_};
};

}  // namespace landtrace::output
