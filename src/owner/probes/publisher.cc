#include "probes/publisher.hpp"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "agent/site.hpp"
#include "base/fd.hpp"
#include "code/refusal.hpp"
#include "rules/probe_plan.hpp"

namespace landtrace::probes {
namespace {

// Of large objects each takes some megabytes.
constexpr std::size_t kMostAnalysed = 4;
constexpr std::uint32_t kMostActive = 0xffff;
// Programs, by place.
constexpr std::size_t kMostRefused = 4096;

std::string name_of(const rules::ProbePlace& place) {
  const auto& named = place.named;
  return named.symbol.empty() ? fmt::format("{}:{:#x}", named.object, place.offset)
                              : fmt::format("{}:{}", named.object, named.symbol);
}

bool is_no_object(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  char begin[SELFMAG] = {};
  return file && ::pread(file.get(), begin, sizeof begin, 0) >= 0 && std::memcmp(begin, ELFMAG, sizeof begin) != 0;
}

// What a call has to leave for its return.
std::uint32_t needs_of(const std::vector<language::ProbeArgument>& arguments) {
  std::uint32_t needs = 0;
  for (const language::ProbeArgument& argument : arguments) {
    if (argument.fetch.source == language::Fetch::Source::kArgument) needs |= plan::kNeedsArguments;
    if (argument.fetch.source == language::Fetch::Source::kElapsed) needs |= plan::kNeedsTime;
  }
  return needs;
}

}  // namespace

Publisher::~Publisher() {
  if (is_marked_) ::unlink(mark_.c_str());
}

// It stays until the owner ends: a program without probes of its own loses little by having the agent.
void Publisher::defined() {
  if (std::exchange(is_marked_, true)) return;
  Fd(::open(mark_.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (on_first_) on_first_();
}

Result<code::Analysis*> Publisher::analysis_of(const programs::ObjectFile& object) {
  if (object.analysis) return object.analysis.get();
  const auto found = std::find_if(analysed_.begin(), analysed_.end(), [&](const Analysed& one) {
    return one.object.device == object.device && one.object.inode == object.inode &&
           one.object.build_id == object.build_id;
  });
  if (found != analysed_.end()) {
    found->used = ++uses_;
    return found->analysis.get();
  }
  LT_TRY(code::Analysis analysis, code::Analysis::open(object.path));
  if (analysis.build_id() != object.build_id) {
    return fail(ESTALE, fmt::format("{} is another file than when the probe was defined", object.path));
  }
  if (analysed_.size() == kMostAnalysed) {
    analysed_.erase(std::min_element(analysed_.begin(), analysed_.end(),
                                     [](const Analysed& a, const Analysed& b) { return a.used < b.used; }));
  }
  analysed_.push_back({object, std::make_unique<code::Analysis>(std::move(analysis)), ++uses_});
  return analysed_.back().analysis.get();
}

Result<std::optional<agent::ProbeSite>> Publisher::describe(const rules::ProbePlace& place, std::uint64_t offset,
                                                            bool is_return) {
  const auto analysed = analysis_of(*place.object);
  // The kernel takes a place of any file. Nothing happens in one that no program runs.
  if (!analysed && is_no_object(place.object->path)) return std::nullopt;
  LT_TRY(code::Analysis* const analysis, analysed);
  agent::ProbeSite site{};
  site.device = place.object->device;
  site.inode = place.object->inode;
  site.offset = offset;
  const std::size_t size = std::min<std::size_t>(place.object->build_id.size(), agent::kMostBuildId);
  std::memcpy(site.build_id, place.object->build_id.data(), size);
  site.build_id_size = static_cast<std::uint8_t>(size);
  site.recipe = analysis->recipe(offset);
  const agent::Refusal refusal = site.recipe.way == agent::Way::kRefused ? site.recipe.refusal
                                 : is_return                             ? analysis->return_refusal(offset)
                                                                         : agent::Refusal::kNone;
  site.offset -= site.recipe.lead;
  if (refusal == agent::Refusal::kNone) return site;
  // The kernel takes a place that no thread can come to, in the middle of an instruction or in data. Nothing
  // happens there.
  if (refusal == agent::Refusal::kNoCode) return std::nullopt;
  return fail(EOPNOTSUPP, fmt::format("{} cannot be probed: {}", name_of(place), code::refusal_text(refusal)));
}

Result<Publisher::Site*> Publisher::find_site(const rules::ProbePlace& place, std::uint64_t offset, bool is_return) {
  const Key key{place.object->device, place.object->inode, offset};
  const auto found = sites_.find(key);
  // A place that is known at entry may still be none for returns.
  if (found != sites_.end() && !is_return) return &found->second;
  LT_TRY(const std::optional<agent::ProbeSite> described, describe(place, offset, is_return));
  if (!described) return nullptr;
  if (found != sites_.end()) return &found->second;
  Site& site = sites_[key];
  site.key = key;
  site.shared = *described;
  return &site;
}

Result<std::uint16_t> Publisher::figure_of(std::uint64_t serial) {
  const auto found = figures_.find(serial);
  if (found != figures_.end()) return found->second;
  LT_TRY(const std::uint16_t figure, domain_.probe_slots().take_figure());
  figures_.emplace(serial, figure);
  return figure;
}

// Kernels wait for a program that has the counter, where the file has none there.
Result<std::int64_t> Publisher::counter_of(const rules::ProbePlace& place, const rules::ProbeSpot& spot) {
  if (spot.usdt_counter != 0 || place.named.ref_counter == 0) return spot.usdt_counter;
  LT_TRY(const code::Analysis* const analysis, analysis_of(*place.object));
  return analysis->distance(spot.offset, place.named.ref_counter).value_or(0);
}

Result<Publisher::Hook> Publisher::make_hook(const domain::Event& event, const rules::ProbePlace& place,
                                             const rules::ProbeSpot& spot, const rules::Probe& probe) {
  const bool is_return = probe.is_return;
  LT_TRY(const std::int64_t counter, counter_of(place, spot));
  LT_TRY(const std::uint16_t figure, figure_of(place.serial));
  const auto bytes =
      rules::function_probe_plan(spot.arguments, *event.declaration(), {spot.offset, is_return}, event.slot);
  LT_TRY(const std::uint32_t plan, domain_.control().store(bytes));
  const auto side = is_return ? plan::ProbeSide::kReturn : plan::ProbeSide::kEntry;
  // The kernel's uprobe_profile counts calls, its kprobe_profile returns.
  const auto counted = probe.family == language::ProbeFamily::kUprobe ? plan::ProbeSide::kEntry : side;
  return Hook{event.slot,
              place.serial,
              {plan, figure, side, counted},
              static_cast<std::uint16_t>(std::min(place.maxactive, kMostActive)),
              counter,
              is_return ? needs_of(spot.arguments) : 0};
}

Result<void> Publisher::add_hooks(const domain::Event& event, const rules::Probe& probe, const rules::ProbePlace& place,
                                  const rules::ProbeSpot& spot, Made& made) {
  LT_TRY(Site* const site, find_site(place, spot.offset, probe.is_return));
  if (site == nullptr) return {};
  LT_TRY(const Hook hook, make_hook(event, place, spot, probe));
  made.emplace_back(site, hook);
  return {};
}

Result<void> Publisher::start(const domain::Event& event, const rules::Probe& probe) {
  Made made;
  const auto give_up = [&](const Error& error) -> Result<void> {
    for (const auto& [site, hook] : made) free_plan(hook.shared.plan);
    std::erase_if(sites_, [](const auto& one) { return one.second.hooks.empty() && !one.second.slot; });
    return tl::unexpected<Error>(error);
  };
  for (const rules::ProbePlace& place : probe.places) {
    if (!place.object) continue;  // it waits
    if (const auto added = add_hooks(event, probe, place, place, made); !added) return give_up(added.error());
    for (const rules::ProbeSpot& spot : place.others) {
      if (const auto added = add_hooks(event, probe, place, spot, made); !added) return give_up(added.error());
    }
  }
  Result<void> published;
  const std::vector<std::uint32_t> old = change_hooks(event.slot, made, published);
  for (const std::uint32_t plan : old) free_plan(plan);
  if (!published) stop(event, probe);
  return published;
}

void Publisher::stop(const domain::Event& event, const rules::Probe&) {
  // With no room for a shorter list producers go on with the old one, and make events that nobody listens to, until
  // another change finds room.
  Result<void> published;
  for (const std::uint32_t plan : change_hooks(event.slot, {}, published)) free_plan(plan);
}

std::vector<std::uint32_t> Publisher::change_hooks(std::uint32_t event, const Made& made, Result<void>& published) {
  std::vector<std::uint32_t> old;
  std::set<Site*> changed;
  std::vector<Site*>& own = sites_of_[event];
  for (Site* const site : std::exchange(own, {})) {
    std::erase_if(site->hooks, [&](const Hook& hook) {
      if (hook.event != event) return false;
      site->left_plans.push_back(hook.shared.plan);
      return true;
    });
    changed.insert(site);
  }
  for (const auto& [site, hook] : made) {
    site->hooks.insert(site->hooks.begin(), hook);  // as in the kernel, who came last is the first
    changed.insert(site);
    own.push_back(site);
  }
  if (own.empty()) sites_of_.erase(event);
  for (Site* const site : changed) {
    if (auto done = publish_or_keep(*site, old); !done) published = std::move(done);
    if (site->hooks.empty()) sites_.erase(site->key);
  }
  // There may be room by now.
  const std::set<Site*> outdated = outdated_;
  for (Site* const site : outdated) {
    if (!changed.contains(site)) std::ignore = publish_or_keep(*site, old);
  }
  return old;
}

// Producers follow the list that is out until there is another one, with the plans that it names.
Result<void> Publisher::publish_or_keep(Site& site, std::vector<std::uint32_t>& old) {
  auto done = publish(site);
  if (done) {
    outdated_.erase(&site);
    old.insert(old.end(), site.left_plans.begin(), site.left_plans.end());
    site.left_plans.clear();
  } else {
    outdated_.insert(&site);
  }
  return done;
}

// What a hit does, and then where it happens: a program that gets there finds what to do.
Result<void> Publisher::publish(Site& site) {
  domain::ProbeSlots& slots = domain_.probe_slots();
  if (site.hooks.empty()) {
    if (site.slot) {
      sites_with_a_slot_.erase(*site.slot);
      slots.give_back(*std::exchange(site.slot, std::nullopt));
    }
    return {};
  }
  std::vector<plan::ProbeHook> hooks;
  agent::ProbeSite wanted = site.shared;
  wanted.sides = 0;
  wanted.maxactive = 0;
  wanted.counter = 0;
  std::uint32_t needs = 0;
  for (const Hook& hook : site.hooks) {
    hooks.push_back(hook.shared);
    needs |= hook.needs;
    wanted.sides |= agent::kWantsEntry;  // also of a return, which counts then, and keeps the call's arguments
    if (hook.shared.side == plan::ProbeSide::kReturn) wanted.sides |= agent::kWantsReturn;
    wanted.maxactive = std::max(wanted.maxactive, hook.maxactive);
    if (wanted.counter == 0 && hook.counter != 0) wanted.counter = hook.counter + wanted.recipe.lead;
  }
  const bool is_new = !site.slot;
  if (is_new) {
    LT_TRY(site.slot, slots.take(wanted));
    sites_with_a_slot_.emplace(*site.slot, &site);
  }
  LT_CHECK(slots.set_hooks(*site.slot, hooks, needs));
  if (!is_new && std::memcmp(&wanted, &site.shared, sizeof wanted) != 0) LT_CHECK(slots.replace(*site.slot, wanted));
  site.shared = wanted;
  return {};
}

void Publisher::free_plan(std::uint32_t plan) {
  domain_.grace().after_readers([&control = domain_.control(), plan] { control.free(plan); });
}

// A producer that is late may still count.
void Publisher::gone(const rules::ProbePlace& place) {
  const auto found = figures_.find(place.serial);
  if (found == figures_.end()) return;
  domain_.grace().after_readers(
      [&slots = domain_.probe_slots(), figure = found->second] { slots.give_back_figure(figure); });
  figures_.erase(found);
}

rules::ProbeCounts Publisher::counts(const domain::Event&, const rules::ProbePlace& place) {
  const auto found = figures_.find(place.serial);
  if (found == figures_.end()) return {};
  const plan::ProbeFigure figure = domain_.probe_slots().figure(found->second);
  return {figure.hits, figure.missed};
}

const std::string& Publisher::program_of(std::uint32_t pid) {
  constexpr std::chrono::milliseconds kStaysSo(100);
  const auto now = std::chrono::steady_clock::now();
  if (named_.pid != pid || now >= named_.until) {
    const auto comm = read_file(fmt::format("/proc/{}/comm", pid), 64);
    named_ = {pid, comm ? comm->substr(0, comm->find('\n')) : "?", now + kStaysSo};
  }
  return named_.program;
}

void Publisher::refused(std::uint32_t pid, std::uint32_t slot, std::uint32_t generation, std::uint8_t reason) {
  const auto found = sites_with_a_slot_.find(slot);
  // The slot may be another place's by now.
  if (found == sites_with_a_slot_.end() || domain_.control().segment().probes[slot].generation != generation) return;
  auto& refused = found->second->refused;
  if (reason == 0) {
    refused.erase(pid);
  } else if (reason <= static_cast<std::uint8_t>(agent::Reason::kBusy) && refused.size() < kMostRefused) {
    refused[pid] = {program_of(pid), agent::Reason{reason}};
  }
}

std::vector<rules::RefusedPlace> Publisher::refusals(const domain::Event& event) {
  std::vector<rules::RefusedPlace> all;
  const rules::Probe* const probe = rules::find_probe(event);
  if (probe == nullptr) return all;
  for (const auto& [key, site] : sites_) {
    const auto is_events = [&](const Hook& hook) { return hook.event == event.slot; };
    const auto hook = std::find_if(site.hooks.begin(), site.hooks.end(), is_events);
    if (hook == site.hooks.end() || site.refused.empty()) continue;
    const auto place = std::find_if(probe->places.begin(), probe->places.end(),
                                    [&](const rules::ProbePlace& one) { return one.serial == hook->serial; });
    if (place == probe->places.end() || !place->object) continue;
    for (const auto& [pid, refused] : site.refused) {
      all.push_back({pid, refused.program, place->object->path, std::get<2>(key), agent::text_of(refused.reason)});
    }
  }
  return all;
}

}  // namespace landtrace::probes
