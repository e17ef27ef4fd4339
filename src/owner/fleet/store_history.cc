#include "fleet/store_history.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "fleet/row_binary.hpp"
#include "fleet/shape_votes.hpp"
#include "fleet/slot_tables.hpp"
#include "fleet/store_row.hpp"
#include "fleet/store_sql.hpp"
#include "fleet/where.hpp"

namespace landtrace::fleet {
namespace {

// How far back before a period frames are looked for at first. Of histograms that were not sent for longer than that,
// and then were, all of the order's time is looked through.
constexpr std::uint64_t kLookBack_ns = 900'000'000'000;

tl::unexpected<Error> strange_answer() { return fail(EPROTO, "the store answers something else than it was asked"); }

// One histogram of one host.
struct Identity {
  std::string host;
  std::string domain;
  std::string boot;
  std::uint64_t generation = 0;

  friend auto operator<=>(const Identity&, const Identity&) = default;
};

Identity read_identity(RowReader& reader) {
  Identity identity;
  identity.host = reader.text();
  identity.domain = reader.text();
  identity.boot = reader.text();
  identity.generation = reader.number<std::uint64_t>();
  return identity;
}

struct Known {
  std::vector<SeenFrame> seen;
  std::vector<Pick> picks;
  std::string labels;
  std::string shape;
  std::map<std::uint64_t, SlotTables::Totals> totals;  // by sequence
};
using KnownHistograms = std::map<Identity, Known>;

// An event of an order.
class StoredEvent {
 public:
  StoredEvent(const StoreQuery& query, const HistoryQuestion& question, Series series)
      : query_(query), question_(question), series_(std::move(series)) {}

  Result<void> add_to(History& history, const Where& where) {
    LT_CHECK(look());
    LT_CHECK(read_heads());
    choose(where, history);
    LT_TRY(const ipc::HistogramTable shape, shape_of_bytes(shape_));
    SlotTables tables(shape, question_.per, question_.period.slots());
    LT_CHECK(add_up(tables, shape));
    append_frames(history, series_.order, series_.event, question_.period, tables);
    return {};
  }
  // Where the period has no frame that counts.
  void shape(std::string bytes) { shape_ = std::move(bytes); }

 private:
  Result<void> look();
  Result<void> look(std::uint64_t after_ns, std::uint64_t before_ns, bool only_known);
  [[nodiscard]] bool has_unclear() const;
  Result<void> read_heads();
  void choose(const Where& where, History& history);
  void choose_shape();
  [[nodiscard]] bool is_wanted(const Identity& identity, const Known& known, const Where& where) const;
  [[nodiscard]] std::string picked(const std::map<std::pair<Identity, std::uint64_t>, std::uint32_t>* tags) const;
  Result<void> add_up(SlotTables& tables, const ipc::HistogramTable& shape);
  Result<std::unordered_map<std::uint64_t, std::string>> names(const std::string& picked) const;

  const StoreQuery& query_;
  const HistoryQuestion& question_;
  const Series series_;
  KnownHistograms histograms_;
  std::string shape_;
};

Result<void> StoredEvent::look(std::uint64_t after_ns, std::uint64_t before_ns, bool only_known) {
  LT_TRY(const std::string bytes, query_(seen_sql(series_, question_.period, after_ns, before_ns), ""));
  RowReader reader(bytes);
  while (!reader.is_at_end()) {
    Identity identity = read_identity(reader);
    SeenFrame frame;
    frame.slot = reader.number<std::uint32_t>();
    frame.sequence = reader.number<std::uint64_t>();
    frame.time_ns = reader.number<std::uint64_t>();
    if (!reader.is_good()) return strange_answer();
    if (only_known && !histograms_.contains(identity)) continue;
    histograms_[std::move(identity)].seen.push_back(frame);
  }
  return {};
}

bool StoredEvent::has_unclear() const {
  return std::ranges::any_of(histograms_, [](const auto& one) {
    return std::ranges::any_of(one.second.picks, &Pick::is_unclear);
  });
}

Result<void> StoredEvent::look() {
  const Period& period = question_.period;
  const auto pick = [&] {
    for (auto& [identity, known] : histograms_) known.picks = picks_of(known.seen, identity.generation, period);
  };
  const std::uint64_t before_ns = period.is_open ? ~0ull : period.until_ns;
  const std::uint64_t after_ns = period.from_ns - std::min(period.from_ns, kLookBack_ns);
  LT_CHECK(look(after_ns, before_ns, false));
  pick();
  if (after_ns > 0 && has_unclear()) {
    LT_CHECK(look(0, after_ns, true));
    pick();
  }
  return {};
}

// With the tags that frames have, or of all frames, each with tag 0.
std::string StoredEvent::picked(const std::map<std::pair<Identity, std::uint64_t>, std::uint32_t>* tags) const {
  std::string rows;
  RowWriter writer(rows);
  for (const auto& [identity, known] : histograms_) {
    for (const Pick& pick : known.picks) {
      std::uint32_t tag = 0;
      if (tags != nullptr) {
        const auto found = tags->find({identity, pick.sequence});
        if (found == tags->end()) continue;
        tag = found->second;
      }
      writer.number(pick.time_ns);
      for (const std::string* text : {&identity.host, &identity.domain, &identity.boot}) writer.text(*text);
      writer.number(identity.generation);
      writer.number(pick.sequence);
      writer.number(tag);
    }
  }
  return rows;
}

// By which histograms can be added up: what else stands in their trigger (the size) is each host's own.
std::string shape_without_trigger(std::string_view bytes) {
  auto shape = shape_of_bytes(bytes);
  if (!shape) return std::string(bytes);
  shape->trigger.clear();
  return shape_bytes(*shape);
}

Result<void> StoredEvent::read_heads() {
  const std::string rows = picked(nullptr);
  if (rows.empty()) return {};
  LT_TRY(const std::string bytes, query_(heads_sql(series_), rows));
  RowReader reader(bytes);
  while (!reader.is_at_end()) {
    const Identity identity = read_identity(reader);
    const auto sequence = reader.number<std::uint64_t>();
    const std::string_view labels = reader.text();
    const std::string_view shape = reader.text();
    SlotTables::Totals totals;
    for (std::uint64_t* number : {&totals.hits, &totals.dropped, &totals.unpaired.starts, &totals.unpaired.ends,
                                  &totals.unpaired.lost}) {
      *number = reader.number<std::uint64_t>();
    }
    const auto known = histograms_.find(identity);
    if (!reader.is_good() || known == histograms_.end()) return strange_answer();
    known->second.labels = labels;
    known->second.shape = shape_without_trigger(shape);
    known->second.totals[sequence] = totals;
  }
  return {};
}

// That of most hosts, of as many of those whose histogram began first: who was heard first is not stored.
void StoredEvent::choose_shape() {
  ShapeVotes votes;
  for (const auto& [identity, known] : histograms_) {
    if (!known.totals.empty()) votes.add(identity.host, known.shape, identity.generation);
  }
  if (auto most = votes.most()) shape_ = *std::move(most);
}

bool StoredEvent::is_wanted(const Identity& identity, const Known& known, const Where& where) const {
  Labels labels = parse_labels(known.labels).value_or(Labels());
  labels[kHostLabel] = identity.host;
  labels[kDomainLabel] = identity.domain;
  return where.matches(labels);
}

void StoredEvent::choose(const Where& where, History& history) {
  std::erase_if(histograms_, [&](const auto& one) {
    return one.second.totals.empty() || !is_wanted(one.first, one.second, where);
  });
  choose_shape();
  std::set<std::string> misfits(history.misfits.begin(), history.misfits.end());
  std::erase_if(histograms_, [&](const auto& one) {
    const bool is_misfit = one.second.shape != shape_;
    if (is_misfit) misfits.insert(one.first.host);
    return is_misfit;
  });
  history.misfits.assign(misfits.begin(), misfits.end());
  for (auto& [identity, known] : histograms_) {
    for (const Pick& pick : known.picks) {
      if (pick.is_unclear) history.unclear += known.totals[pick.sequence].hits;
    }
  }
}

// By their numbers. Two names with one number would be counted together.
Result<std::unordered_map<std::uint64_t, std::string>> StoredEvent::names(const std::string& picked) const {
  LT_TRY(const std::string bytes, query_(names_sql(series_), picked));
  std::unordered_map<std::uint64_t, std::string> names;
  RowReader reader(bytes);
  while (!reader.is_at_end()) {
    const auto id = reader.number<std::uint64_t>();
    const std::string name(reader.text());
    if (!reader.is_good() || names.emplace(id, name).first->second != name) return strange_answer();
  }
  return names;
}

Result<void> StoredEvent::add_up(SlotTables& tables, const ipc::HistogramTable& shape) {
  struct Place {
    std::uint32_t plus = 0, minus = 0, group = 0;
    auto operator<=>(const Place&) const = default;
  };
  std::map<Place, std::uint32_t> numbers;
  std::vector<Place> places;
  std::map<std::pair<Identity, std::uint64_t>, std::uint32_t> tags;
  for (auto& [identity, known] : histograms_) {
    const std::uint32_t group = tables.group(group_of(identity.host, identity.domain, known.labels, question_.per));
    for (const Pick& pick : known.picks) {
      const Place place{pick.plus, pick.minus, group};
      const auto [number, is_new] = numbers.try_emplace(place, static_cast<std::uint32_t>(places.size()));
      if (is_new) places.push_back(place);
      tags[{identity, pick.sequence}] = number->second;
      if (pick.plus != Pick::kNone) tables.add(pick.plus, known.totals[pick.sequence]);
      if (pick.minus != Pick::kNone) tables.subtract(pick.minus, known.totals[pick.sequence]);
    }
  }
  const std::string rows = picked(&tags);
  if (rows.empty()) return {};
  LT_TRY(const auto names_by_id, names(rows));
  LT_TRY(const std::string bytes, query_(rows_sql(series_, shape), rows));
  RowReader reader(bytes);
  std::vector<std::uint64_t> values(shape.values.size());
  while (!reader.is_at_end()) {
    const auto tag = reader.number<std::uint32_t>();
    const auto name = names_by_id.find(reader.number<std::uint64_t>());
    SlotTables::Row row;
    row.step = reader.number<std::uint64_t>();
    row.hits = reader.number<std::uint64_t>();
    for (std::uint64_t& value : values) value = reader.number<std::uint64_t>();
    if (!reader.is_good() || tag >= places.size() || name == names_by_id.end()) return strange_answer();
    row.key = name->second;
    row.values = values;
    const Place& place = places[tag];
    if (place.plus != Pick::kNone) LT_CHECK(tables.add(place.plus, place.group, row));
    if (place.minus != Pick::kNone) LT_CHECK(tables.subtract(place.minus, place.group, row));
  }
  return {};
}

// Orders and events, without rows.
Result<std::vector<std::pair<Frame, std::string>>> orders_in(const StoreQuery& query, const HistoryQuestion& question) {
  LT_TRY(const std::string bytes, query(orders_sql(question.order, question.period), ""));
  std::vector<std::pair<Frame, std::string>> orders;
  RowReader reader(bytes);
  while (!reader.is_at_end()) {
    Frame frame;
    frame.order = reader.text();
    frame.event = reader.text();
    std::string shape(reader.text());
    frame.generation = reader.number<std::uint64_t>();
    frame.time_ns = reader.number<std::uint64_t>();
    frame.host = std::to_string(reader.number<std::uint64_t>());
    if (!reader.is_good()) return strange_answer();
    LT_TRY(frame.table, shape_of_bytes(shape));
    orders.emplace_back(std::move(frame), std::move(shape));
  }
  return orders;
}

}  // namespace

Result<History> ask_store(const StoreQuery& query, const HistoryQuestion& question) {
  LT_CHECK(question.period.check());
  LT_TRY(const Where where, Where::parse(question.where));
  LT_TRY(auto orders, orders_in(query, question));
  History history;
  history.source = "store";
  for (auto& [frame, shape] : orders) {
    if (question.order.empty()) {
      history.frames.push_back(std::move(frame));
      continue;
    }
    StoredEvent event(query, question, {frame.order, frame.event});
    event.shape(std::move(shape));
    LT_CHECK(event.add_to(history, where));
  }
  return history;
}

}  // namespace landtrace::fleet
