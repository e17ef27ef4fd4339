#include "metrics/histogram_families.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/input.hpp"
#include "metrics/names.hpp"
#include "rules/histograms/keys_text.hpp"

namespace landtrace::metrics {
namespace {

using ipc::HistogramKey;
using ipc::HistogramKeyValue;
using ipc::KeyKind;

bool is_bucketed(const HistogramKey& key) {
  return key.kind == KeyKind::kLog2 || key.kind == KeyKind::kRange || key.kind == KeyKind::kSteps;
}

// The largest value that is in the bucket of that number.
double upper_of(const HistogramKey& key, std::uint64_t number) {
  if (key.kind == KeyKind::kLog2) return std::ldexp(1, static_cast<int>(std::min<std::uint64_t>(number, 64)));
  if (key.kind == KeyKind::kSteps) return static_cast<double>(ipc::last_in_step(number, key.width));
  return static_cast<double>(number) + static_cast<double>(key.width - 1);
}

// "latency" of "latency.log2".
std::string_view field_of(std::string_view name) { return name.substr(0, name.find('.')); }

std::string label_of(const HistogramKey& key) { return label_name(field_of(key.name)); }

std::string label_text(const HistogramKey& key, const HistogramKeyValue& value) {
  switch (key.kind) {
    case KeyKind::kText:
      return value.text;
    case KeyKind::kSigned:
      return std::to_string(static_cast<std::int64_t>(value.number));
    case KeyKind::kStack: {
      std::string text;
      for (const ipc::HistogramFrame& frame : value.frames) {
        text += text.empty() ? "" : ";";
        text += frame.name.empty() ? fmt::format("{:#x}", frame.address) : frame.name;
      }
      return text;
    }
    default:
      return std::string(trimmed(rules::value_text(key, value)));
  }
}

// What the trigger's line says: "hist:name=NAME:keys=… if FILTER [active]".
struct Trigger {
  std::string name;
  std::string filter;
};

Trigger parse(std::string_view text) {
  Trigger trigger;
  text = text.substr(0, text.rfind(" ["));
  if (const std::size_t at = text.find(" if "); at != std::string_view::npos) {
    trigger.filter = text.substr(at + 4);
    text = text.substr(0, at);
  }
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(':'));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    if (part.starts_with("name=")) trigger.name = part.substr(5);
  }
  return trigger;
}

std::string identity(const std::vector<Label>& labels) {
  std::string text;
  for (const Label& label : labels) text.append(label.name).append(1, '\0').append(label.value).append(1, '\0');
  return text;
}

Number plus(const Number& a, std::uint64_t b) {
  if (const auto* const number = std::get_if<std::int64_t>(&a)) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(*number) + b);
  }
  return std::get<std::uint64_t>(a) + b;
}

// The last of its keys that is in buckets, or the number of keys.
std::size_t bucket_key(const ipc::HistogramTable& table) {
  for (std::size_t i = table.keys.size(); i > 0; --i) {
    if (is_bucketed(table.keys[i - 1])) return i - 1;
  }
  return table.keys.size();
}

// Rows that differ in the buckets alone.
struct Group {
  std::vector<Label> labels;
  std::uint64_t hits = 0;
  std::vector<Bucket> buckets;
  std::vector<Number> values;  // as the table's
};

// A histogram's rows as groups.
class Grouping {
 public:
  Grouping(const HistogramFigures& histogram, const Trigger& trigger)
      : table_(histogram.table), in_buckets_(bucket_key(table_)) {
    const bool is_named = !trigger.name.empty();
    if (!is_named) common_.push_back({"event", histogram.event});
    if (!histogram.instance.empty()) common_.push_back({"trace_instance", histogram.instance});
    if (!is_named && !trigger.filter.empty()) common_.push_back({"filter", trigger.filter});
    for (const ipc::HistogramRow& row : table_.rows) add(row);
  }

  [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }

 private:
  void add(const ipc::HistogramRow& row) {
    Group& group = group_of(row);
    group.hits += row.hits;
    if (in_buckets_ < table_.keys.size()) {
      group.buckets.push_back({upper_of(table_.keys[in_buckets_], row.keys[in_buckets_].number), row.hits});
    }
    for (std::size_t i = 0; i < table_.values.size(); ++i) {
      Number& value = group.values[i];
      if (!table_.values[i].is_kept) {
        value = plus(value, row.values[i]);
      } else if (row.values[i] > std::get<std::uint64_t>(value)) {
        value = row.values[i];
      }
    }
  }

  Group& group_of(const ipc::HistogramRow& row) {
    std::vector<Label> labels = common_;
    for (std::size_t i = 0; i < table_.keys.size(); ++i) {
      if (i == in_buckets_) continue;
      std::string name = label_of(table_.keys[i]);
      while (std::any_of(labels.begin(), labels.end(), [&](const Label& label) { return label.name == name; }))
        name += '_';
      labels.push_back({std::move(name), label_text(table_.keys[i], row.keys[i])});
    }
    const auto [at, is_new] = places_.try_emplace(identity(labels), groups_.size());
    if (is_new) {
      Group& group = groups_.emplace_back();
      group.labels = std::move(labels);
      for (const ipc::HistogramValue& value : table_.values) {
        const bool is_signed = value.is_signed && !value.is_kept;
        group.values.push_back(is_signed ? Number(std::int64_t{0}) : Number(std::uint64_t{0}));
      }
    }
    return groups_[at->second];
  }

  const ipc::HistogramTable& table_;
  const std::size_t in_buckets_;
  std::vector<Label> common_;
  std::map<std::string, std::size_t> places_;
  std::vector<Group> groups_;
};

// What the families of a histogram are called.
struct Names {
  Names(const Trigger& trigger, const ipc::HistogramTable& table)
      : is_named(!trigger.name.empty()),
        base("landtrace_" + sound_name(trigger.name)),
        help(is_named ? "Counted by " + table.trigger.substr(0, table.trigger.rfind(" ["))
                      : "Histograms without a name") {}

  static Family::Kind kind_of(const ipc::HistogramValue& value) {
    return value.is_kept || value.is_signed ? Family::Kind::kGauge : Family::Kind::kCounter;
  }
  [[nodiscard]] std::string of_value(const ipc::HistogramValue& value) const {
    if (is_named) return base + "_" + sound_name(value.name);
    return kind_of(value) == Family::Kind::kGauge ? "landtrace_histogram_level" : "landtrace_histogram_sum";
  }
  [[nodiscard]] std::string of_hits(Family::Kind kind) const {
    if (is_named) return base;
    return kind == Family::Kind::kHistogram ? "landtrace_histogram" : "landtrace_hits";
  }

  bool is_named;
  std::string base;
  std::string help;
};

// All names that a family of this name has in some format.
std::vector<std::string> samples_of(const std::string& name, Family::Kind kind) {
  std::vector<std::string> names{name};
  if (kind == Family::Kind::kCounter) names.push_back(name + "_total");
  if (kind == Family::Kind::kHistogram) {
    for (const char* const suffix : {"_bucket", "_sum", "_count"}) names.push_back(name + suffix);
  }
  return names;
}

std::vector<Bucket> sorted(std::vector<Bucket> buckets) {
  std::sort(buckets.begin(), buckets.end(), [](const Bucket& a, const Bucket& b) { return a.upper < b.upper; });
  return buckets;
}

}  // namespace

HistogramFamilies::HistogramFamilies(const std::vector<Family>& others) {
  for (const Family& family : others) take_name(family.name, family.kind);
  // Those that are there at times alone, and those of histograms without a name.
  for (const char* const name : {"landtrace_events", "landtrace_probe_hits", "landtrace_hits",
                                 "landtrace_histogram_sum", "landtrace_histogram_dropped"}) {
    take_name(name, Family::Kind::kCounter);
  }
  taken_.insert("landtrace_histogram_level");
  taken_.insert("landtrace_metrics_left_out");
  for (const std::string& name : samples_of("landtrace_histogram", Family::Kind::kHistogram)) taken_.insert(name);
}

// False: it is another's already.
bool HistogramFamilies::take_name(const std::string& name, Family::Kind kind) {
  const std::vector<std::string> names = samples_of(name, kind);
  if (std::any_of(names.begin(), names.end(), [this](const auto& each) { return taken_.contains(each); })) return false;
  taken_.insert(names.begin(), names.end());
  return true;
}

Family& HistogramFamilies::family(const Subject& subject, const std::string& help) {
  const auto [at, is_new] = families_.try_emplace(subject);
  if (!is_new) return at->second;
  std::string name = subject.wanted_name;
  if (!subject.histogram.empty() && !take_name(name, subject.kind)) {
    name += !subject.value.empty() ? "_value" : subject.kind == Family::Kind::kHistogram ? "_distribution" : "_hits";
    const std::string with_suffix = name;
    for (int number = 2; !take_name(name, subject.kind); ++number) name = fmt::format("{}_{}", with_suffix, number);
  }
  at->second = {name, help, subject.kind};
  return at->second;
}

// Of two that no label tells apart, as there are where histograms differ in their size alone, the first.
void HistogramFamilies::put(Family& family, Series series) {
  auto& seen = seen_[family.name];
  if (family.series.size() >= kMostSeries || !seen.try_emplace(identity(series.labels)).second) {
    ++left_out_;
    return;
  }
  family.series.push_back(std::move(series));
}

// A name that need not be changed comes before those that become like it.
void HistogramFamilies::add(const std::vector<HistogramFigures>& histograms) {
  std::multimap<std::pair<bool, std::string>, const HistogramFigures*> by_name;
  for (const HistogramFigures& histogram : histograms) {
    const std::string name = parse(histogram.table.trigger).name;
    by_name.emplace(std::pair(sound_name(name) != name, name), &histogram);
  }
  for (const auto& [name, histogram] : by_name) add_one(*histogram);
}

void HistogramFamilies::add_one(const HistogramFigures& histogram) {
  const ipc::HistogramTable& table = histogram.table;
  const Trigger trigger = parse(table.trigger);
  // All events that a named one counts share its table.
  if (!trigger.name.empty()) {
    const auto [at, is_new] = shared_.try_emplace(histogram.instance + '\0' + trigger.name, histogram.event);
    if (!is_new && at->second != histogram.event) return;
  }
  const std::size_t in_buckets = bucket_key(table);
  const std::string bucketed = in_buckets < table.keys.size() ? std::string(field_of(table.keys[in_buckets].name)) : "";
  const Names names(trigger, table);
  const Grouping grouping(histogram, trigger);
  for (const Group& group : grouping.groups()) {
    Series counted{group.labels, group.hits, sorted(group.buckets)};
    for (std::size_t i = 0; i < table.values.size(); ++i) {
      const ipc::HistogramValue& value = table.values[i];
      if (!bucketed.empty() && value.name == bucketed && !value.is_kept) {
        counted.sum = group.values[i];
      } else {
        Series sum{group.labels, group.values[i]};
        if (!names.is_named) sum.labels.push_back({"value", value.name});
        const auto kind = Names::kind_of(value);
        const std::string of = names.is_named ? value.name : "";
        put(family({trigger.name, of, names.of_value(value), kind}, names.help), std::move(sum));
      }
    }
    if (!bucketed.empty() && !names.is_named) counted.labels.push_back({"of", bucketed});
    const auto kind = bucketed.empty() ? Family::Kind::kCounter : Family::Kind::kHistogram;
    put(family({trigger.name, "", names.of_hits(kind), kind}, names.help), std::move(counted));
  }
  if (table.dropped == 0) return;
  std::vector<Label> labels{
      {"event", histogram.event}, {"trace_instance", histogram.instance}, {"filter", trigger.filter}};
  put(family({"", "", "landtrace_histogram_dropped", Family::Kind::kCounter},
             "Events that found no room in a histogram"),
      {std::move(labels), table.dropped});
}

std::vector<Family> HistogramFamilies::take() {
  std::vector<Family> families;
  for (auto& [subject, family] : families_) families.push_back(std::move(family));
  families_.clear();
  std::sort(families.begin(), families.end(), [](const Family& a, const Family& b) { return a.name < b.name; });
  return families;
}

}  // namespace landtrace::metrics
