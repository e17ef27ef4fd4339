#include "metrics/figures.hpp"

#include <fcntl.h>

#include <algorithm>
#include <limits>
#include <array>
#include <charconv>

#include "consumer/histograms.hpp"

namespace landtrace::metrics {
namespace {

constexpr std::uint64_t kRingBytes = 4096;  // nothing is recorded there
constexpr const char* kCountByCpu = "hist:keys=common_cpu:size=128";

// What is gone meanwhile is left out: an instance that was removed, an event that was deleted.
bool is_gone(const Error& error) { return error.code == ENOENT || error.code == ENODEV || error.code == EIO; }

// The parts of "A\0B\0C\0", three at a time.
template <typename Visit>
void for_each_three(std::string_view text, const Visit& visit) {
  std::array<std::string_view, 3> parts;
  for (std::size_t i = 0; !text.empty(); ++i) {
    const std::string_view part = text.substr(0, text.find('\0'));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    parts[i % 3] = part;
    if (i % 3 == 2) visit(parts[0], parts[1], parts[2]);
  }
}

// "  PATH EVENT HITS MISSED": paths have no spaces.
ProbeFigures probe_of(std::string_view line) {
  ProbeFigures probe;
  std::array<std::string_view, 3> words;
  for (std::string_view& word : words) {
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(' ')));
    word = line.substr(0, line.find(' '));
    line.remove_prefix(word.size());
  }
  probe.event = words[1];
  std::from_chars(words[2].data(), words[2].data() + words[2].size(), probe.hits);
  return probe;
}

}  // namespace

Result<Asker> Asker::connect(const std::string& socket, const std::vector<std::string>& patterns) {
  LT_TRY(consumer::DomainView view, consumer::DomainView::connect(socket));
  LT_TRY(ipc::TreeClient tree, ipc::TreeClient::connect(socket));
  Asker asker(std::make_unique<consumer::DomainView>(std::move(view)), std::move(tree));
  if (!patterns.empty()) LT_CHECK(asker.count(patterns));
  return asker;
}

// By CPU, so that CPUs do not take a counter from each other.
Result<void> Asker::count(const std::vector<std::string>& patterns) {
  LT_TRY(session_, consumer::Session::open(*view_, {.ring_bytes = kRingBytes}));
  LT_CHECK(session_->record(false));
  for (const std::string& text : patterns) {
    LT_TRY(event::Pattern pattern, event::Pattern::parse(text));
    patterns_.push_back(std::move(pattern));
    LT_CHECK(session_->select({.pattern = text, .triggers = {kCountByCpu}}));
  }
  return {};
}

Result<Figures> Asker::ask() {
  LT_TRY(Figures figures, ask_rings());
  LT_TRY(figures.histograms, histograms([](std::string_view, std::string_view) { return true; },
                                        std::numeric_limits<std::size_t>::max()));
  LT_CHECK(add_probes(figures));
  LT_CHECK(add_counted(figures));
  return figures;
}

Result<Figures> Asker::ask_rings() {
  Figures figures;
  count_events(figures);
  LT_CHECK(view_->map_new_users());
  const auto& users = view_->users();
  figures.users = static_cast<std::uint64_t>(
      std::count_if(users.begin(), users.end(), [](const consumer::User& user) { return !user.has_left; }));
  LT_CHECK(add_rings(figures, ""));
  LT_TRY(const auto instances, tree_.list("instances"));
  for (const ipc::TreeClient::Entry& entry : instances) {
    if (entry.is_folder() && !entry.name.starts_with('.')) LT_CHECK(add_rings(figures, entry.name));
  }
  return figures;
}

void Asker::count_events(Figures& figures) const {
  const plan::ControlSegment& control = view_->control();
  // Pairs with the release store in Events::take_slot().
  const std::uint32_t high = std::min(__atomic_load_n(&control.event_high, __ATOMIC_ACQUIRE), plan::kMaxEvents);
  for (std::uint32_t slot = 0; slot < high; ++slot) {
    const plan::EventSlot& event = control.events[slot];
    // Numbers that are shown, and order nothing.
    if (__atomic_load_n(&event.registered, __ATOMIC_RELAXED) == 0) continue;
    ++figures.events;
    if (__atomic_load_n(&event.plan, __ATOMIC_RELAXED) != 0) ++figures.enabled;
  }
}

Result<std::string> Asker::read(const std::string& path) {
  LT_CHECK(tree_.open(path, O_RDONLY));
  std::string text;
  for (;;) {
    LT_TRY(const std::string piece, tree_.read());
    if (piece.empty()) break;
    text += piece;
  }
  tree_.close();
  return text;
}

Result<void> Asker::add_rings(Figures& figures, const std::string& instance) {
  const std::string folder = instance.empty() ? "per_cpu/" : "instances/" + instance + "/per_cpu/";
  for (std::uint32_t cpu = 0; cpu < view_->cpus(); ++cpu) {
    const auto text = read(folder + "cpu" + std::to_string(cpu) + "/stats");
    if (!text && is_gone(text.error())) return {};
    if (!text) return tl::unexpected(text.error());
    figures.rings.push_back({instance, cpu, output::parse_cpu_stats(*text)});
  }
  return {};
}

Result<std::vector<HistogramFigures>> Asker::histograms(const Wants& wants, std::size_t most) {
  std::vector<HistogramFigures> all;
  for (std::uint64_t at = 0;;) {
    LT_TRY(const ipc::Answer answer, view_->ask({.operation = ipc::Operation::kHistogramEvents, .a = at}));
    Result<void> failed;
    for_each_three(answer.text, [&](std::string_view instance, std::string_view system, std::string_view name) {
      if (!wants(system, name) || all.size() >= most) return;
      std::string names;
      for (const std::string_view part : {system, name, instance}) names.append(part).push_back('\0');
      auto tables = consumer::gather_histograms([&](std::uint64_t position) {
        return view_->ask({.operation = ipc::Operation::kHistograms, .a = position}, names);
      });
      if (!tables && !is_gone(tables.error())) failed = tl::unexpected(tables.error());
      if (!tables) return;
      for (ipc::HistogramTable& table : *tables) {
        std::string event = std::string(system).append(":").append(name);
        if (all.size() < most) all.push_back({std::string(instance), std::move(event), std::move(table)});
      }
    });
    LT_CHECK(failed);
    if (answer.reply.a <= at) return all;
    at = answer.reply.a;
  }
}

Result<void> Asker::add_counted(Figures& figures) {
  if (!session_) return {};
  LT_TRY(const std::string text, read("available_events"));
  for (std::string_view rest = text; !rest.empty();) {
    const std::string name(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    const std::size_t colon = std::min(name.find(':'), name.size() - 1);
    const auto is_wanted = [&](const event::Pattern& pattern) {
      return pattern.matches(name.substr(0, colon), name.substr(colon + 1));
    };
    if (std::none_of(patterns_.begin(), patterns_.end(), is_wanted)) continue;
    const auto tables = session_->histograms(name);
    if (!tables && !is_gone(tables.error())) return tl::unexpected(tables.error());
    if (tables && !tables->empty()) figures.counted.push_back({name, tables->front().hits});
  }
  return {};
}

Result<void> Asker::add_probes(Figures& figures) {
  LT_TRY(const std::string text, read("uprobe_profile"));
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (ProbeFigures probe = probe_of(line); !probe.event.empty()) figures.probes.push_back(std::move(probe));
  }
  return {};
}

}  // namespace landtrace::metrics
