#include "fleet/fleet_families.hpp"

#include <algorithm>

#include "metrics/names.hpp"

namespace landtrace::fleet {
namespace {

using metrics::Family;
using metrics::Label;
using metrics::Number;
using metrics::Series;

std::vector<Label> labels_of(const Status& status) { return {{"host", status.host}, {"domain", status.domain}}; }

// Under a name that none of them has yet.
void add_label(std::vector<Label>& labels, const std::string& wanted, const std::string& value) {
  std::string name = metrics::label_name(wanted);
  while (std::ranges::any_of(labels, [&](const Label& label) { return label.name == name; })) name += '_';
  labels.push_back({std::move(name), value});
}

// All families, and how many series found no room in them.
class Families {
 public:
  // Those that are here come first: where there is no room it is for those that are away.
  explicit Families(const FleetFigures& figures) : figures_(figures) {
    for (const auto& [key, member] : figures_.roster.members()) members_.push_back(&member);
    std::ranges::stable_partition(members_, [&](const Roster::Member* member) { return !is_away(*member); });
  }

  std::vector<Family> take() {
    add_hosts();
    add_orders();
    add_counts();
    families_.push_back({"landtrace_fleet_connected",
                         "Whether the fleet's NATS servers can be reached",
                         Family::Kind::kGauge,
                         {Series{{}, std::uint64_t{figures_.is_connected}}}});
    families_.push_back({"landtrace_fleet_metrics_left_out",
                         "Series that are no metrics here: too many",
                         Family::Kind::kGauge,
                         {Series{{}, left_out_}}});
    return std::move(families_);
  }

 private:
  Family& begin(const char* name, const char* help, Family::Kind kind) {
    return families_.emplace_back(Family{name, help, kind});
  }
  void put(Family& family, Series series) {
    if (family.series.size() >= metrics::kMostSeries) {
      ++left_out_;
    } else {
      family.series.push_back(std::move(series));
    }
  }

  [[nodiscard]] bool is_away(const Roster::Member& member) const { return member.is_away(figures_.now_ns); }

  void add_of_hosts(const char* name, const char* help, Family::Kind kind, std::uint64_t (*number)(const Status&)) {
    Family& family = begin(name, help, kind);
    for (const Roster::Member* const member : members_) {
      put(family, {labels_of(member->status), number(member->status)});
    }
  }

  void add_hosts() {
    using Kind = Family::Kind;
    std::uint64_t away = 0;
    Family up{"landtrace_fleet_host_up", "Whether a host is there, and not away", Kind::kGauge};
    Family info{"landtrace_fleet_host_info", "Who a host is: its labels", Kind::kGauge};
    for (const Roster::Member* const member : members_) {
      const Status& status = member->status;
      away += is_away(*member) ? 1 : 0;
      put(up, {labels_of(status), std::uint64_t{!is_away(*member)}});
      std::vector<Label> labels = labels_of(status);
      labels.push_back({"version", status.version});
      for (const auto& [name, value] : status.labels) add_label(labels, name, value);
      put(info, {std::move(labels), std::uint64_t{1}});
    }
    Family& hosts = begin("landtrace_fleet_hosts", "Domains of hosts that are here, or away", Kind::kGauge);
    hosts.series = {{{{"state", "here"}}, members_.size() - away}, {{{"state", "away"}}, away}};
    families_.push_back(std::move(up));
    families_.push_back(std::move(info));
    add_of_hosts("landtrace_fleet_recorded_events", "Events that were recorded in a ring", Kind::kCounter,
                 [](const Status& status) { return status.recorded; });
    add_of_hosts("landtrace_fleet_lost_events", "Events that were overwritten unread, or found no room", Kind::kCounter,
                 [](const Status& status) { return status.lost; });
    add_of_hosts("landtrace_fleet_unsent_frames", "What was never sent, as the transport was away", Kind::kCounter,
                 [](const Status& status) { return status.unsent; });
    add_of_hosts("landtrace_fleet_events_registered", "Events that are registered", Kind::kGauge,
                 [](const Status& status) { return status.events; });
    add_of_hosts("landtrace_fleet_events_enabled", "Events that somebody listens to", Kind::kGauge,
                 [](const Status& status) { return status.enabled; });
    add_of_hosts("landtrace_fleet_users", "Users who have a part of a domain", Kind::kGauge,
                 [](const Status& status) { return status.users; });
  }

  // Of those that there are: what hosts made of them.
  void add_orders() {
    constexpr const char* kStates[] = {"applied", "refused", "ended"};
    struct Made {
      std::uint64_t hosts[3] = {};
      std::uint64_t events = 0;
    };
    std::map<std::string, Made> made;
    for (const auto& [id, order] : figures_.orders) made[id];
    for (const Roster::Member* const member : members_) {
      for (const OrderState& state : member->status.orders) {
        const auto found = made.find(state.id);
        if (found == made.end()) continue;
        ++found->second.hosts[static_cast<std::size_t>(state.now)];
        found->second.events += state.events;
      }
    }
    Family hosts{"landtrace_fleet_order_hosts", "Hosts that took an order, refused it, or are done",
                 Family::Kind::kGauge};
    Family events{"landtrace_fleet_order_events", "Events that were counted or recorded for an order",
                  Family::Kind::kCounter};
    for (const auto& [id, one] : made) {
      const char* const kind = kind_text(figures_.orders.at(id).kind);
      for (std::size_t i = 0; i < std::size(kStates); ++i) {
        put(hosts, {{{"order", id}, {"kind", kind}, {"state", kStates[i]}}, one.hosts[i]});
      }
      put(events, {{{"order", id}, {"kind", kind}}, one.events});
    }
    families_.push_back(std::move(hosts));
    families_.push_back(std::move(events));
  }

  void add_counts() {
    Family spreads{"landtrace_fleet_histogram", "What orders have measured", Family::Kind::kHistogram};
    Family hits{"landtrace_fleet_hits", "What orders have counted", Family::Kind::kCounter};
    for (const auto& [order, events] : figures_.counts) {
      for (const Spreads& one : events) {
        for (const SpreadGroup* const group : sorted(one.groups)) {
          if (spreads.series.size() + hits.series.size() >= kMostFleetGroups) {
            ++left_out_;
            continue;
          }
          (one.value ? spreads : hits).series.push_back(series_of(order, one, *group));
        }
      }
    }
    families_.push_back(std::move(spreads));
    families_.push_back(std::move(hits));
  }

  // By name: what finds room at one scrape does so at the next.
  static std::vector<const SpreadGroup*> sorted(const std::vector<SpreadGroup>& groups) {
    std::vector<const SpreadGroup*> all;
    for (const SpreadGroup& group : groups) all.push_back(&group);
    std::ranges::sort(
        all, {}, [](const SpreadGroup* group) -> const auto& { return group->key; });
    return all;
  }

  static Series series_of(const std::string& order, const Spreads& one, const SpreadGroup& group) {
    Series series{{{"order", order}, {"event", one.event}}, group.count};
    if (one.value) series.labels.push_back({"of", *one.value});
    for (std::size_t i = 0; i < one.by.size(); ++i) add_label(series.labels, one.by[i], group.key[i]);
    if (!one.value) return series;
    for (const auto& power : group.spread.powers()) {
      series.buckets.push_back({static_cast<double>(power.high), power.count});
    }
    series.sum = group.spread.has_negative() ? Number(static_cast<std::int64_t>(group.spread.sum()))
                                             : Number(group.spread.sum());
    return series;
  }

  const FleetFigures& figures_;
  std::vector<const Roster::Member*> members_;
  std::vector<Family> families_;
  std::uint64_t left_out_ = 0;
};

}  // namespace

std::vector<Family> families_of(const FleetFigures& figures) { return Families(figures).take(); }

}  // namespace landtrace::fleet
