// What a program's section says it is for, as libbpf's users write it.
//
//     SEC("tracepoint/SYSTEM/EVENT")   SEC("tp/SYSTEM/EVENT")        an event
//     SEC("uprobe/PATH:PLACE")         SEC("uretprobe/PATH:PLACE")   a place in a program's or library's code
//
// PLACE as in uprobe_events, FUNCTION[+OFFSET] for the most part.
#pragma once

#include <optional>
#include <string>

namespace landtrace::loading {

struct Section {
  // "": it is for a place.
  std::string system;
  std::string event;
  std::string place;
  bool is_return = false;

  [[nodiscard]] bool is_event() const { return place.empty(); }
  // As messages have it.
  [[nodiscard]] std::string text() const { return is_event() ? system + ":" + event : place; }
};

// nullopt: the section is none of these.
std::optional<Section> parse_section(const std::string& name);

}  // namespace landtrace::loading
