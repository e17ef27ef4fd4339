#include "rules/probes/probes.hpp"

#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>
#include <utility>

namespace landtrace::rules {
namespace {

using language::FunctionProbe;
using language::FunctionProbeCommand;
using language::NamedPlace;
using language::ProbeFamily;
using language::ProbeRefusal;

tl::unexpected<ProbeRefusal> refuse_definition(ProbeRefusal refusal) {
  return tl::unexpected<ProbeRefusal>(std::move(refusal));
}

Probe* find_own(Event& event) { return const_cast<Probe*>(find_probe(event)); }

// In the journal a line tells by its first letter which file it was written to.
constexpr char kUprobeLine = 'u', kKprobeLine = 'k';

std::string journal_line(const FunctionProbe& probe) {
  return (probe.family == ProbeFamily::kUprobe ? kUprobeLine : kKprobeLine) + function_probe_text(probe);
}

bool is_same_file(const programs::ObjectFile& a, const programs::ObjectFile& b) {
  return a.device == b.device && a.inode == b.inode;
}

bool is_same_place(ProbeFamily family, const ProbePlace& a, const ProbePlace& b) {
  if (family == ProbeFamily::kKprobe) return a.named == b.named;
  return a.object && b.object && is_same_file(*a.object, *b.object) && a.offset == b.offset &&
         std::equal(a.others.begin(), a.others.end(), b.others.begin(), b.others.end(),
                    [](const ProbeSpot& one, const ProbeSpot& other) { return one.offset == other.offset; });
}

ProbeSpot spot_of(const language::UsdtPlace& place, const FunctionProbe& probe) {
  return {place.offset, language::arguments_at(place, probe.arguments), place.counter};
}

void set_spots(ProbePlace& place, std::vector<ProbeSpot> spots) {
  static_cast<ProbeSpot&>(place) = std::move(spots.front());
  place.others.assign(std::make_move_iterator(spots.begin() + 1), std::make_move_iterator(spots.end()));
}

// Where a function's place is, once it is known where the function is.
void set_offsets(ProbePlace& place, const std::vector<std::uint64_t>& functions) {
  std::vector<ProbeSpot> spots;
  for (const std::uint64_t function : functions) {
    spots.push_back({function + static_cast<std::uint64_t>(place.named.offset), place.arguments, 0});
  }
  set_spots(place, std::move(spots));
}

ProbePlace place_of(const FunctionProbe& probe, const CallersObjects& objects) {
  ProbePlace place;
  place.named = probe.place;
  place.object = objects.object();
  place.offset = static_cast<std::uint64_t>(probe.place.offset);
  place.arguments = probe.arguments;
  place.maxactive = probe.maxactive;
  std::vector<ProbeSpot> spots;
  for (const language::UsdtPlace& usdt : probe.usdt) spots.push_back(spot_of(usdt, probe));
  const bool is_function = !probe.place.symbol.empty() && !objects.offsets().empty();
  if (!spots.empty()) {
    set_spots(place, std::move(spots));
  } else if (is_function) {
    set_offsets(place, objects.offsets());
  }
  return place;
}

// What an argument's @ names becomes a distance from the place. 0; EINVAL, ERANGE: it is no symbol; ENOENT: the object
// has none of that name. Of an object that is not there yet nothing but the form is looked at.
int resolve_symbols(ProbePlace& place, programs::ObjectFiles& files, const programs::Asker& asker) {
  std::vector<ProbeSpot*> spots{&place};
  for (ProbeSpot& spot : place.others) spots.push_back(&spot);
  std::vector<std::uint64_t> offsets;
  for (const ProbeSpot* const spot : spots) offsets.push_back(spot->offset);
  for (std::size_t i = 0; i < place.arguments.size(); ++i) {
    const language::Fetch& fetch = place.arguments[i].fetch;
    if (fetch.source != language::Fetch::Source::kSymbol) continue;
    const auto reference = language::parse_symbol_reference(fetch.text);
    if (!reference) return reference.error();
    if (!place.object) continue;
    const auto distances = files.find_symbol(asker, place.object->path, reference->symbol, offsets);
    if (!distances) return ENOENT;
    for (std::size_t at = 0; at < spots.size(); ++at) {
      language::Fetch& own = spots[at]->arguments[i].fetch;
      own.source = language::Fetch::Source::kFileOffset;
      own.number = spots[at]->offset + static_cast<std::uint64_t>(distances->at(at) + reference->offset);
    }
  }
  return 0;
}

}  // namespace

const Probe* find_probe(const Event& event) {
  return event::is_function_probe(event.flavour()) ? static_cast<const Probe*>(event.defined->rules.get()) : nullptr;
}

namespace {

// Such files have no pages, and kernels say so first.
bool is_made_when_read(const ProbePlace& place) {
  struct statfs system {};
  return place.object && place.object->size == 0 && ::statfs(place.object->path.c_str(), &system) == 0 &&
         system.f_type == PROC_SUPER_MAGIC;
}

// Kernels look at these only when the event is enabled.
bool is_sound(const ProbePlace& place) {
  return (!place.object || place.offset <= place.object->size) && place.named.ref_counter % sizeof(std::uint16_t) == 0;
}

}  // namespace

Result<void> Probes::start(const Event& event, const Probe& probe) {
  if (std::any_of(probe.places.begin(), probe.places.end(), is_made_when_read)) {
    return fail(EIO, "a place in a file of /proc, which no program can run");
  }
  if (!std::all_of(probe.places.begin(), probe.places.end(), is_sound)) {
    return fail(EINVAL, "a place behind the end of its file, or a counter at an odd offset");
  }
  if (observer_ == nullptr) return {};
  return observer_->start(event, probe);
}

void Probes::observe(ProbeObserver* observer) {
  observer_ = observer;
  for (Event* const event : events_.all()) {
    Probe* const probe = find_own(*event);
    if (probe == nullptr) continue;
    probe->is_on = false;
    std::ignore = attach(*event);
  }
}

language::AcceptedProbe<Event*> Probes::define(ProbeFamily family, std::string_view line, const programs::Asker& asker,
                                               CallersObjects& objects) {
  const FunctionProbeCommand command(family, line);
  auto made = define_place(command, objects, asker);
  // A source line has several where it was inlined, or is a template's. Not in all of them everything is there.
  for (std::size_t place = 1; place < objects.places(); ++place) {
    objects.choose_place(place);
    auto more = define_place(command, objects, asker);
    if (!made && more) made = more;
  }
  return made;
}

bool Probes::is_prepared(std::string_view line, const programs::Asker& asker) {
  const std::string_view object = language::probed_object(line);
  return object.empty() || files_.prepare(asker, object);
}

language::AcceptedProbe<std::string> Probes::define_some(ProbeFamily family, std::string_view line,
                                                         const programs::Asker& asker) {
  CallersObjects objects(files_, programs_, asker);
  const auto made = define(family, line, asker, objects);
  if (!made) return refuse_definition(made.error());
  return objects.left_out();
}

language::AcceptedProbe<Event*> Probes::define_place(const FunctionProbeCommand& command, CallersObjects& objects,
                                                     const programs::Asker& asker) {
  const auto probe = command.parse(objects);
  if (!probe) return refuse_definition(probe.error());
  ProbePlace place = place_of(*probe, objects);
  // An address would be one of the kernel's, which no program has. All this comes last, as in the kernel.
  const int code = place.named.is_address ? EINVAL : resolve_symbols(place, files_, asker);
  const auto error = code == 0        ? std::nullopt
                     : code == ENOENT ? std::optional(command.no_such_symbol())
                                      : std::optional(command.not_registered(code));
  if (has_other_counter(place)) return refuse_definition({EINVAL, {}});
  Event* const known = events_.find(probe->group, probe->name);
  const bool is_appended =
      known != nullptr && find_probe(*known) != nullptr && find_probe(*known)->family == probe->family;
  const Definition definition{command, *probe, asker.who.uid, error};
  return is_appended ? append(*known, definition, std::move(place)) : add(definition, std::move(place));
}

// All probes of a place have one counter, or none. That of a USDT place its note says, whoever names it.
bool Probes::has_other_counter(const ProbePlace& place) {
  if (!has_counters_ && place.named.ref_counter == 0) return false;
  for (const Line& line : lines(ProbeFamily::kUprobe)) {
    const ProbePlace& other = find_probe(*line.event)->places[line.place];
    if (place.usdt_counter != 0 || other.usdt_counter != 0) continue;
    if (is_same_place(ProbeFamily::kUprobe, place, other) && other.named.ref_counter != place.named.ref_counter) {
      return true;
    }
  }
  return false;
}

Result<void> Probes::enter(Event& event, const FunctionProbe& probe, ProbePlace place) {
  Probe& own = *find_own(event);
  place.serial = own.places.empty() ? event.serial : events_.take_serial();
  event.defined->definitions.push_back(
      {place.serial, function_probe_text(probe), is_passing_ ? "" : journal_line(probe)});
  own.places.push_back(std::move(place));
  events_.write_down(event);
  is_waited_ = is_waited_ || !own.places.back().object;
  has_counters_ = has_counters_ || own.places.back().named.ref_counter != 0;
  if (observer_ != nullptr) observer_->defined();
  return own.is_on ? start(event, own) : Result<void>();
}

language::AcceptedProbe<Event*> Probes::add(const Definition& definition, ProbePlace place) {
  const auto& [command, probe, uid, error] = definition;
  // The rules first: those who have selected it listen as soon as it is there.
  const auto made = registrar_.add_event(probe.group, declare_function_probe(probe), function_probe_text(probe), uid);
  if (!made) {
    const int code = made.error().code;
    return refuse_definition(code == EEXIST ? command.name_is_taken() : ProbeRefusal{code, {}});
  }
  Event& event = **made;
  const auto give_up = [&](ProbeRefusal refusal) {
    event.listeners.reset();
    std::ignore = events_.remove(event, 0);
    return refuse_definition(std::move(refusal));
  };
  if (error) return give_up(*error);
  auto state = std::make_unique<Probe>();
  state->family = probe.family;
  state->is_return = probe.is_return;
  event.defined->rules = std::move(state);
  if (auto entered = enter(event, probe, std::move(place)); !entered) return give_up({entered.error().code, {}});
  if (auto attached = attach(event); !attached) return give_up({attached.error().code, {}});
  return &event;
}

language::AcceptedProbe<Event*> Probes::append(Event& event, const Definition& definition, ProbePlace place) {
  const auto& [command, probe, uid, error] = definition;
  const Probe& known = *find_probe(event);
  if (uid != 0 && uid != event.uid) return refuse_definition({EPERM, {}});
  if (known.is_return != probe.is_return) return refuse_definition(command.other_kind());
  if (const auto argument = first_difference(probe.arguments, known.places[0].arguments)) {
    return refuse_definition(command.other_argument(*argument));
  }
  for (const ProbePlace& other : known.places) {
    if (is_same_place(probe.family, place, other) && are_fetched_alike(place.arguments, other.arguments)) {
      return refuse_definition(command.same_probe());
    }
  }
  if (error) return refuse_definition(*error);
  if (auto entered = enter(event, probe, std::move(place)); !entered) {
    const std::uint64_t last = event.defined->definitions.back().serial;
    std::ignore = remove_place(event, last, 0, [](Event&) { return Result<void>(); });
    return refuse_definition({entered.error().code, {}});
  }
  return &event;
}

void Probes::restore(std::string_view commands, std::uint32_t uid) {
  while (!commands.empty()) {
    const std::string_view line = commands.substr(0, commands.find('\n'));
    commands.remove_prefix(std::min(line.size() + 1, commands.size()));
    if (line.empty()) continue;
    const ProbeFamily family = line.front() == kKprobeLine ? ProbeFamily::kKprobe : ProbeFamily::kUprobe;
    const programs::Asker asker{{uid, uid}, 0};
    CallersObjects objects(files_, programs_, asker, CallersObjects::Of::kOlderOwner);
    std::ignore = define(family, line.substr(1), asker, objects);
  }
}

Result<void> Probes::remove_place(Event& event, std::uint64_t serial, std::uint32_t uid,
                                  const std::function<Result<void>(Event&)>& remove_event) {
  Probe* const probe = find_own(event);
  if (probe == nullptr) return fail(ENOENT, "the event is no probe");
  const auto found = std::find_if(probe->places.begin(), probe->places.end(),
                                  [&](const ProbePlace& place) { return place.serial == serial; });
  if (found == probe->places.end()) return fail(ENOENT, "no such place");
  if (probe->places.size() == 1) return remove_event(event);
  // While there are others the event may be in use.
  if (uid != 0 && uid != event.uid) return fail(EPERM, "the event is another user's");
  auto& definitions = event.defined->definitions;
  definitions.erase(definitions.begin() + (found - probe->places.begin()));
  const ProbePlace place = std::move(*found);
  probe->places.erase(found);
  event.defined->text = definitions.front().text;
  events_.write_down(event);
  Result<void> started = probe->is_on ? start(event, *probe) : Result<void>();
  if (observer_ != nullptr) observer_->gone(place);
  return started;
}

Result<void> Probes::attach(Event& event) {
  Probe* const probe = find_own(event);
  if (probe == nullptr || probe->is_on == event.listeners.any()) return {};
  probe->is_on = event.listeners.any();
  if (!probe->is_on) {
    if (observer_ != nullptr) observer_->stop(event, *probe);
    return {};
  }
  auto started = start(event, *probe);
  if (!started) probe->is_on = false;
  return started;
}

void Probes::let_go(Event& event) {
  Probe* const probe = find_own(event);
  if (probe == nullptr) return;
  if (observer_ == nullptr) return;
  if (std::exchange(probe->is_on, false)) observer_->stop(event, *probe);
  for (const ProbePlace& place : probe->places) observer_->gone(place);
}

std::vector<Probes::Line> Probes::lines(ProbeFamily family) {
  std::vector<Line> found;
  for (Event* const event : events_.all()) {
    const Probe* const probe = find_probe(*event);
    if (probe == nullptr || probe->family != family) continue;
    for (std::size_t i = 0; i < probe->places.size(); ++i) found.push_back({event, i});
  }
  const auto serial = [](const Line& line) { return line.event->defined->definitions[line.place].serial; };
  std::sort(found.begin(), found.end(), [&](const Line& a, const Line& b) { return serial(a) < serial(b); });
  return found;
}

ProbeCounts Probes::counts(const Event& event, const ProbePlace& place) const {
  return observer_ == nullptr ? ProbeCounts{} : observer_->counts(event, place);
}

void Probes::look_again() {
  if (!std::exchange(is_waited_, false)) return;
  for (const Line& line : lines(ProbeFamily::kKprobe)) {
    Probe& probe = *find_own(*line.event);
    ProbePlace& place = probe.places[line.place];
    if (place.object) continue;
    is_waited_ = true;
    const programs::Asker asker{{line.event->uid, line.event->uid}, 0};
    CallersObjects objects(files_, programs_, asker);
    if (objects.look_up(place.named.object, place.named.symbol) != CallersObjects::Answer::kFunction) continue;
    ProbePlace found = place;
    found.object = objects.object();
    set_offsets(found, objects.offsets());
    if (resolve_symbols(found, files_, asker) != 0) continue;
    place = std::move(found);
    if (probe.is_on) std::ignore = start(*line.event, probe);
  }
}

}  // namespace landtrace::rules
