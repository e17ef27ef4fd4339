#include "fleet/serving/agent.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include "arch/clock.hpp"
#include "fleet/own_histograms.hpp"
#include "fleet/serving/snapshot_sink.hpp"
#include "fleet/signed_order.hpp"
#include "fleet/subjects.hpp"
#include "fleet/where.hpp"

namespace landtrace::fleet {
namespace {

constexpr std::uint64_t kNsPerMs = 1'000'000;
constexpr std::uint64_t kStates_ns = 500 * kNsPerMs;
constexpr std::size_t kMostOrders = 64;
constexpr std::size_t kMostReason = 512;
constexpr std::uint64_t kHeld_ns = 100 * kNsPerMs;
constexpr std::uint64_t kMostSending_ns = 600'000 * kNsPerMs;
// For an answer of the clock, or for a moment that somebody has far ahead.
constexpr std::uint64_t kMostWaiting_ns = 3000 * kNsPerMs;
constexpr const char* kNothingRecorded = "no order records anything here: `landtrace fleet enable EVENT` first";

std::string boot_id() {
  std::string id;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), id);
  return id;
}

}  // namespace

Agent::Agent(AgentOptions options, std::unique_ptr<AgentDomain> domain, std::function<void()> changed)
    : options_(std::move(options)),
      boot_(boot_id()),
      started_ns_(wall_ns()),
      domain_(std::move(domain)),
      link_(options_.address, "landtrace " + options_.host, options_.most_bytes, std::move(changed)),
      own_(options_, boot_, started_ns_),
      held_(options_.most_bytes) {}

Labels Agent::own_labels() const {
  Labels labels = parse_labels(options_.labels).value_or(Labels());
  labels[kHostLabel] = options_.host;
  labels[kDomainLabel] = options_.domain;
  return labels;
}

Result<void> Agent::start(Rounds& links) {
  if (!options_.trust.empty()) {
    LT_TRY(Trust trust, Trust::read(options_.trust));
    trust_.emplace(std::move(trust));
  }
  return link_.start(links);
}

Result<std::uint64_t> Agent::round() {
  if (const auto orders = link_.new_orders()) take_orders(*orders);
  take_due_snapshots();
  LT_CHECK(look());
  send_held();
  const std::uint64_t now_ns = arch::monotonic_ns();
  send_frames(now_ns);
  if (now_ns >= next_status_ns_) send_own();
  if (status_is_new_ || now_ns >= next_status_ns_) send_status();
  forget_ended(now_ns);
  return next_due_ns();
}

void Agent::take_orders(const std::map<std::string, std::string>& orders) {
  for (auto& [id, task] : tasks_) {
    if (!orders.contains(id)) end(*task);
  }
  const auto is_gone = [&](const auto& id) { return !orders.contains(id); };
  std::erase_if(settled_, [&](const auto& one) { return is_gone(one.first); });
  std::erase_if(passed_over_, is_gone);
  std::erase_if(coming_, [&](const auto& one) { return is_gone(one.first); });
  for (const auto& [id, json] : orders) {
    const bool is_known =
        tasks_.contains(id) || settled_.contains(id) || passed_over_.contains(id) || coming_.contains(id);
    if (!is_known) take_order(id, json);
  }
}

void Agent::refuse(const std::string& id, const std::string& reason) {
  settle(id, {id, OrderState::Now::kRefused, 0, {{"", reason.substr(0, kMostReason)}}});
}

// Others are passed over: a status has to fit into a message.
void Agent::settle(const std::string& id, OrderState state) {
  if (settled_.size() >= kMostOrders) {
    passed_over_.insert(id);
    return;
  }
  settled_[id] = std::move(state);
  status_is_new_ = true;
}

// First the clocks are compared, so that all hosts do it at the same moment.
void Agent::prepare_snapshot(Order order) {
  constexpr std::size_t kMostComing = 4;
  const auto patterns = patterns_of(order.event);
  if (!patterns) return refuse(order.id, patterns.error().message);
  if (coming_.size() >= kMostComing) return refuse(order.id, "snapshots for others are to be taken: try it again");
  const bool has_recording =
      std::any_of(tasks_.begin(), tasks_.end(), [](const auto& one) { return one.second->recording() != nullptr; });
  if (!has_recording) return refuse(order.id, kNothingRecorded);
  Coming coming;
  coming.latest_ns = arch::monotonic_ns() + kMostWaiting_ns;
  link_.ask_for_time(clock_subject(options_.domain, options_.host, order.id),
                     [clock = coming.clock](std::optional<ClockOffset> offset) {
                       const std::lock_guard lock(clock->mutex);
                       clock->is_known = true;
                       clock->offset = offset;
                     });
  const std::string id = order.id;
  coming.order = std::move(order);
  coming_.emplace(id, std::move(coming));
}

std::uint64_t Agent::Coming::due_ns() const {
  const std::lock_guard lock(clock->mutex);
  if (!clock->is_known) return latest_ns;
  if (!clock->offset || order.moment_ns == 0) return 0;
  return std::min(latest_ns, order.moment_ns - static_cast<std::uint64_t>(clock->offset->offset_ns));
}

std::uint64_t Agent::next_due_ns() const {
  std::uint64_t due_ns = next_status_ns_;
  if (!held_.is_empty()) due_ns = std::min(due_ns, arch::monotonic_ns() + kHeld_ns);
  const std::uint64_t wall_now_ns = wall_ns(), now_ns = arch::monotonic_ns();
  for (const auto& [id, task] : tasks_) {
    if (task->is_over()) continue;
    due_ns = std::min({due_ns, next_states_ns_, task->next_frames_ns, task->next_look_ns});
    const std::uint64_t until_ns = task->order().until_ns;
    if (until_ns != 0) due_ns = std::min(due_ns, now_ns + (until_ns > wall_now_ns ? until_ns - wall_now_ns : 0));
  }
  for (const auto& [id, coming] : coming_) due_ns = std::min(due_ns, coming.due_ns());
  return due_ns;
}

void Agent::take_due_snapshots() {
  for (auto next = coming_.begin(); next != coming_.end();) {
    const auto [id, coming] = *next;
    const std::uint64_t due_ns = coming.due_ns();
    std::uint64_t now_ns = arch::monotonic_ns();
    if (due_ns >= now_ns + kNsPerMs) {
      ++next;
      continue;
    }
    next = coming_.erase(next);
    if (due_ns > now_ns) std::this_thread::sleep_for(std::chrono::nanoseconds(due_ns - now_ns));
    const auto sent = send_snapshot(coming);
    if (!sent) refuse(id, sent.error().message.empty() ? errno_text(sent.error().code) : sent.error().message);
  }
}

// First the rings, then all else: what they hold is overwritten meanwhile.
Result<void> Agent::send_snapshot(const Coming& coming) {
  const Order& order = coming.order;
  LT_TRY(std::vector<event::Pattern> patterns, patterns_of(order.event));
  SnapshotSink sink(std::move(patterns), options_.left_out);
  Link::Parcel parcel;
  std::uint32_t cpus = 0;
  for (const auto& [id, task] : tasks_) {
    Work* const recording = task->recording();
    if (recording == nullptr) continue;
    sink.begin_order();
    LT_TRY(const std::uint64_t frozen_ns, recording->copy_to(sink));
    parcel.end.frozen_ns = std::max(parcel.end.frozen_ns, frozen_ns);
    cpus = recording->cpus();
  }
  if (cpus == 0) return fail(ENOENT, kNothingRecorded);
  LT_TRY(parcel.file, sink.file(cpus, kMostSnapshotBytes, parcel.end));
  const std::uint64_t now_ns = wall_ns();
  parcel.end.generation = now_ns;
  parcel.end.bytes = parcel.file.size();
  parcel.end.hash = hash_of(parcel.file);
  parcel.end.left_out = options_.left_out;
  parcel.order = order.id;
  parcel.subject = snapshot_subject(options_.domain, options_.host, order.id);
  {
    const std::lock_guard lock(coming.clock->mutex);
    parcel.end.clock = coming.clock->offset;
  }
  const std::uint64_t patience_ns = order.until_ns > now_ns ? order.until_ns - now_ns : 0;
  parcel.until_ns = arch::monotonic_ns() + std::min(patience_ns, kMostSending_ns);
  const std::uint64_t events = parcel.end.events;
  LT_CHECK(link_.send(std::move(parcel)));
  settle(order.id, {order.id, OrderState::Now::kEnded, events, {}});
  return {};
}

// Once: what was ended does not begin again because somebody puts it there again.
Result<Order> Agent::trusted(const std::string& id, const std::string& json) {
  const std::uint64_t now_ns = wall_ns();
  std::erase_if(taken_, [&](const auto& one) { return now_ns >= one.second; });
  const auto verify = [&](std::string_view bytes, std::string_view signature) {
    return trust_->has_signed(bytes, signature);
  };
  LT_TRY(const std::string signed_json, verified_order(id, json, now_ns, verify));
  LT_TRY(Order order, order_of(signed_json));
  if (!taken_.emplace(id, order.until_ns).second) return fail(EACCES, "it was here before, and has ended");
  return order;
}

void Agent::take_order(const std::string& id, const std::string& json) {
  auto order = order_of(json);
  if (!order) return refuse(id, order.error().message);
  order->id = id;  // the key that it has: whoever may write that one may write this order
  const auto where = Where::parse(order->where);
  if (!where) return refuse(id, where.error().message);
  const std::uint64_t now_ns = wall_ns();
  const bool is_over = order->has_ended(now_ns) && !trust_;
  const bool is_told = is_over && now_ns - order->until_ns < options_.ended_kept_ms * kNsPerMs;
  if (!where->matches(own_labels()) || (is_over && !is_told)) {
    passed_over_.insert(id);
    return;
  }
  if (is_told) {  // whoever has given it waits for an answer
    tasks_[id] = std::make_unique<Task>(options_, *std::move(order));
    status_is_new_ = true;
    return;
  }
  if (trust_) order = trusted(id, json);
  if (!order) return refuse(id, order.error().message);
  if (order->kind == Order::Kind::kSnapshot) return prepare_snapshot(*std::move(order));
  const auto active =
      std::count_if(tasks_.begin(), tasks_.end(), [](const auto& one) { return !one.second->is_over(); });
  if (static_cast<std::size_t>(active) >= kMostOrders) {
    return refuse(id, "there are " + std::to_string(kMostOrders) + " orders here already");
  }
  tasks_[id] = std::make_unique<Task>(options_, boot_, *std::move(order), *domain_);
  status_is_new_ = true;
}

Result<void> Agent::look() {
  for (auto& [id, task] : tasks_) {
    if (!task->is_over() && arch::monotonic_ns() >= task->next_look_ns) {
      LT_CHECK(task->look());
      if (auto lines = task->lines()) link_.tell(*std::move(lines));
    }
    if (task->order().has_ended(wall_ns())) end(*task);
  }
  return {};
}

// Also of one that was refused, which would be told of for ever. Its lines are told before the status that says that it
// has ended.
void Agent::end(Task& task) {
  if (task.ended_ns() != 0) return;
  std::vector<Outbox::Letter> letters = task.end(wall_ns());
  if (auto lines = task.lines()) link_.tell(*std::move(lines));
  for (Outbox::Letter& letter : letters) {
    if (link_.send_if_room(letter)) continue;
    if (!held_.hold(task.order().id, std::move(letter))) link_.count_unsent(1);
  }
  status_is_new_ = true;
}

void Agent::send_held() {
  const bool has_sent_all_of_one = held_.give([&](Outbox::Letter& letter) { return link_.send_if_room(letter); });
  status_is_new_ = status_is_new_ || has_sent_all_of_one;
}

void Agent::end() {
  for (auto& [id, task] : tasks_) end(*task);
  send_status();
}

void Agent::send_frames(std::uint64_t now_ns) {
  const bool looks_at_states = now_ns >= next_states_ns_;
  if (looks_at_states) next_states_ns_ = now_ns + kStates_ns;
  for (auto& [id, task] : tasks_) {
    if (task->is_over()) continue;
    if (looks_at_states && task->update_state()) status_is_new_ = status_is_new_ || !task->state().refusals.empty();
    if (now_ns < task->next_frames_ns) continue;
    const std::uint64_t interval_ms = task->order().interval_ms;
    task->next_frames_ns = now_ns + (interval_ms == 0 ? options_.interval_ms : interval_ms) * kNsPerMs;
    bool has_room = true;
    for (Outbox::Letter& letter : task->frames(wall_ns())) has_room = link_.send(std::move(letter)) && has_room;
    if (!has_room) task->send_all_again();
    status_is_new_ = status_is_new_ || task->is_over();
  }
}

void Agent::send_own() {
  if (!own_.is_wanted()) return;
  const auto wants = [&](std::string_view system, std::string_view name) { return own_.wants(system, name); };
  const auto histograms = domain_->histograms(wants, OwnFrames::kMost);
  if (!histograms) return;
  bool has_room = true;
  for (Outbox::Letter& letter : own_.take(*histograms, wall_ns())) has_room = link_.send(std::move(letter)) && has_room;
  if (!has_room) own_.send_all_again();
}

void Agent::send_status() {
  const std::uint64_t now_ns = wall_ns();
  status_is_new_ = false;
  next_status_ns_ = arch::monotonic_ns() + options_.interval_ms * kNsPerMs;
  Status status{.host = options_.host,
                .boot = boot_,
                .domain = options_.domain,
                .labels = parse_labels(options_.labels).value_or(Labels()),
                .version = options_.version,
                .started = started_ns_,
                .sequence = ++sequence_,
                .time_ns = now_ns,
                .interval_ms = options_.interval_ms,
                .unsent = link_.unsent()};
  if (const auto figures = domain_->figures()) {
    status.users = figures->users;
    status.events = figures->events;
    status.enabled = figures->enabled;
    for (const metrics::RingFigures& ring : figures->rings) {
      status.recorded += ring.stats.entries + ring.stats.overrun + ring.stats.read;
      status.lost += ring.stats.overrun + ring.stats.dropped;
    }
  }
  status.orders = states();
  // Behind last frames. Where there is no room the next one says all of it, and no frame is missing.
  Outbox::Letter letter{subject_of(status), json_within(status, link_.most_bytes()), true};
  std::ignore = link_.send_if_room(letter);
}

// What goes on stands first, then what was refused, then what has ended, the newest of that first: a message may have
// no room for the last ones.
std::vector<OrderState> Agent::states() const {
  constexpr std::uint64_t kGoesOn = ~0ull, kRefused = kGoesOn - 1;
  std::vector<std::pair<std::uint64_t, OrderState>> ranked;
  for (const auto& [id, state] : settled_) ranked.emplace_back(kRefused, state);
  if (!own_.refusals().empty()) {
    ranked.emplace_back(kRefused, OrderState{kOwn, OrderState::Now::kRefused, 0, own_.refusals()});
  }
  for (const auto& [id, task] : tasks_) {
    const std::uint64_t over_ns = task->ended_ns() != 0 ? task->ended_ns() : kRefused;
    ranked.emplace_back(task->is_over() ? over_ns : kGoesOn, task->state());
    if (held_.contains(id)) ranked.back().second.now = OrderState::Now::kApplied;
  }
  std::ranges::stable_sort(ranked, std::greater(), [](const auto& one) { return one.first; });
  std::vector<OrderState> states;
  for (auto& [rank, state] : ranked) states.push_back(std::move(state));
  return states;
}

void Agent::forget_ended(std::uint64_t now_ns) {
  const std::uint64_t kept_ns = options_.ended_kept_ms * kNsPerMs;
  std::erase_if(tasks_, [&](const auto& one) {
    const bool is_old = one.second->ended_ns() != 0 && now_ns > one.second->ended_ns() + kept_ns;
    if (is_old) passed_over_.insert(one.first);
    if (is_old) link_.count_unsent(held_.forget(one.first));
    return is_old;
  });
}

}  // namespace landtrace::fleet
