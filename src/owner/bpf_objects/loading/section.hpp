// What a program's section says it is for, as libbpf's users write it.
//
//     SEC("tracepoint/SYSTEM/EVENT")   SEC("tp/SYSTEM/EVENT")        an event
//     SEC("uprobe/PATH:PLACE")         SEC("uretprobe/PATH:PLACE")   a place in a program's or library's code
//     SEC("usdt/PATH:PROVIDER:NAME")                                 USDT places of that name
//     SEC("kprobe/[MOD:]FUNCTION")     SEC("kretprobe/…")            a function, as in kprobe_events
//
// PLACE as in uprobe_events, FUNCTION[+OFFSET] for the most part.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace landtrace::loading {

struct Section {
  enum class Kind : std::uint8_t { kEvent, kPlace, kFunction };
  Kind kind = Kind::kEvent;
  // kEvent.
  std::string system{};
  std::string event{};
  // kPlace: as uprobe_events has it; kFunction: as kprobe_events has it.
  std::string place{};
  bool is_return = false;

  [[nodiscard]] bool is_event() const { return kind == Kind::kEvent; }
  // As messages have it.
  [[nodiscard]] std::string text() const { return is_event() ? system + ":" + event : place; }
};

// nullopt: the section is none of these.
std::optional<Section> parse_section(const std::string& name);

}  // namespace landtrace::loading
