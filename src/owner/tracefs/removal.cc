#include "tracefs/removal.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <utility>

#include "language/probe/probe_pattern.hpp"
#include "language/words.hpp"

namespace landtrace::tracefs {
namespace {

struct Removal {
  std::optional<std::string_view> system;  // nullopt: any
  std::string_view name;
  std::string fields;
  std::vector<std::string_view> words;  // of `fields`
};

Result<Removal> parse_removal(std::string_view command) {
  const auto words = language::split_words(command);
  const std::string_view target = words[0];
  const auto colon = target.find(':');
  if (colon == std::string_view::npos || (target[0] == '-' && colon != 1)) {
    return fail(EINVAL, "want -:NAME, or !u:NAME");
  }
  Removal removal;
  removal.name = target.substr(colon + 1);
  const auto slash = removal.name.find('/');
  if (slash != std::string_view::npos) {
    removal.system = removal.name.substr(0, slash);
    removal.name.remove_prefix(slash + 1);
  } else if (removal.name.empty()) {
    return fail(EINVAL, "an event's name was expected");
  }
  removal.words.assign(words.begin() + 1, words.end());
  for (std::size_t i = 1; i < words.size(); ++i) removal.fields.append(i == 1 ? "" : " ").append(words[i]);
  if (removal.fields.size() > 1 && removal.fields.ends_with(';')) removal.fields.pop_back();
  return removal;
}

// "-:GROUP/" means every probe of the group. The event that it is attached to follows, and its first arguments.
bool is_meant_event_probe(const domain::Event& event, const Removal& removal) {
  if (!removal.name.empty() && event.name != removal.name) return false;
  if (removal.words.empty()) return true;
  const std::string text = event.text();
  auto shown = language::split_words(text);  // "e:GROUP/NAME SYSTEM.EVENT ARGUMENT…"
  shown.erase(shown.begin());
  std::string base(removal.words[0]);
  if (const auto slash = base.find('/'); slash != std::string::npos) base[slash] = '.';
  return removal.words.size() <= shown.size() && base == shown[0] &&
         std::equal(removal.words.begin() + 1, removal.words.end(), shown.begin() + 1);
}

bool is_called(const domain::Event& event, std::string_view name) {
  if (name.empty() || event.name == name) return true;
  return language::is_name_pattern(name) && ::fnmatch(std::string(name).c_str(), event.name.c_str(), 0) == 0;
}

// `shown`: "p:GROUP/NAME PLACE ARGUMENT…". The kernel compares no more than it has room for.
bool is_meant_place(const domain::Event& event, const std::string& shown, const Removal& removal) {
  constexpr std::size_t kRoom = 63;
  if (!is_called(event, removal.name)) return false;
  auto words = language::split_words(shown);
  words.erase(words.begin());
  if (removal.words.size() > words.size()) return false;
  return std::equal(removal.words.begin(), removal.words.end(), words.begin(),
                    [&](std::string_view written, const std::string_view& word) {
                      const bool is_path = &word == &words.front() && word.find('/') != std::string_view::npos;
                      return written == (is_path ? word : word.substr(0, kRoom));
                    });
}

// Kernels before 6.4 take a name alone for the event, whatever its fields.
bool is_meant(const domain::Event& event, const Removal& removal, abi::Version abi) {
  const bool is_in_system = !removal.system || event.system == *removal.system;
  if (event.flavour() == event::Flavour::kSynthetic) return event.name == removal.name && is_in_system;
  if (event.flavour() == event::Flavour::kEventProbe) return is_in_system && is_meant_event_probe(event, removal);
  const bool name_is_enough = abi == abi::Version::k6_1 && removal.fields.empty();
  return event.registered_name() == removal.name && is_in_system &&
         (name_is_enough || fields_text(*event.declaration()) == removal.fields);
}

// What is to go: an event, or one place of a probe.
struct Meant {
  std::uint64_t serial;  // by which they are in order
  std::uint32_t slot;
  std::uint64_t event;  // its own serial
  bool is_place;
};

std::vector<Meant> find_meant(domain::Events& events, const Removal& removal, abi::Version abi,
                              const std::function<bool(const domain::Event&)>& is_ours) {
  std::vector<Meant> meant;
  for (const domain::Event* const event : events.all()) {
    if (!is_ours(*event)) continue;
    if (!event::is_function_probe(event->flavour())) {
      if (is_meant(*event, removal, abi)) meant.push_back({event->serial, event->slot, event->serial, false});
      continue;
    }
    if (removal.system && event->system != *removal.system) continue;
    for (const auto& each : event->defined->definitions) {
      if (is_meant_place(*event, each.text, removal)) meant.push_back({each.serial, event->slot, event->serial, true});
    }
  }
  std::sort(meant.begin(), meant.end(), [](const Meant& a, const Meant& b) { return a.serial < b.serial; });
  return meant;
}

// How many places of each event.
std::map<std::uint32_t, std::size_t> places_of(const std::vector<Meant>& meant) {
  std::map<std::uint32_t, std::size_t> places;
  for (const Meant& each : meant) places[each.slot] += each.is_place ? 1 : 0;
  return places;
}

// Ours: "-:g/*" takes what one definition with a pattern made, all of it or nothing. No event's name has such letters.
Result<void> check_all(domain::Events& events, const std::vector<Meant>& meant, std::uint32_t uid) {
  const auto places = places_of(meant);
  for (const Meant& each : meant) {
    const domain::Event& event = *events.at(each.slot);
    // Some of an event's places may go while it is in use.
    if (each.is_place && places.at(each.slot) < event.defined->definitions.size()) continue;
    LT_CHECK(domain::Events::check_removable(event, uid));
  }
  return {};
}

class Removing final : public Work {
 public:
  Removing(Context& context, const Caller& caller, std::vector<Meant> meant)
      : context_(context), caller_(caller), meant_(std::move(meant)), places_(places_of(meant_)) {}

  Result<bool> go_on(const domain::Turn& turn) override {
    while (next_ < meant_.size()) {
      LT_CHECK(remove(meant_[next_++]));
      if (next_ < meant_.size() && turn.is_over()) return false;
    }
    return true;
  }

 private:
  Result<void> remove(const Meant& each) {
    domain::Event* const event = context_.domain.events().at(each.slot);
    // It may have gone with its probe, or between two turns.
    if (event == nullptr || event->serial != each.event) return {};
    const auto remove_event = [&](domain::Event& one) { return context_.rules.remove(one, caller_.who.uid); };
    // All of its places go, which need not be one by one.
    if (each.is_place && places_.at(each.slot) == event->defined->definitions.size() && !event->in_use()) {
      return remove_event(*event);
    }
    return each.is_place ? remove_place(*event, each.serial, remove_event) : remove_event(*event);
  }
  Result<void> remove_place(domain::Event& event, std::uint64_t serial,
                            const std::function<Result<void>(domain::Event&)>& remove_event) {
    const auto& all = event.defined->definitions;
    const bool is_there = std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.serial == serial; });
    if (!is_there) return {};
    return context_.rules.probes().remove_place(event, serial, caller_.who.uid, remove_event);
  }

  Context& context_;
  Caller caller_;
  std::vector<Meant> meant_;
  std::map<std::uint32_t, std::size_t> places_;  // how many are meant, by slot
  std::size_t next_ = 0;
};

}  // namespace

Result<void> remove_dynamic(Context& context, const Caller& caller, std::string_view command,
                            const std::function<bool(const domain::Event&)>& is_ours, Rest& rest) {
  if (rest.is_of(command)) return done_or_not_yet(rest.go_on());
  LT_TRY(const Removal removal, parse_removal(command));
  context.domain.enable_words().sweep();  // the process that kept the event may have ended
  domain::Events& events = context.domain.events();
  auto meant = find_meant(events, removal, context.domain.abi(), is_ours);
  if (meant.empty()) return fail(ENOENT, "no such event");
  if (language::is_name_pattern(removal.name)) LT_CHECK(check_all(events, meant, caller.who.uid));
  return done_or_not_yet(rest.begin(command, std::make_unique<Removing>(context, caller, std::move(meant))));
}

}  // namespace landtrace::tracefs
