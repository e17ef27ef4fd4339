#include "histograms.hpp"

#include <cstring>
#include <sstream>
#include <unordered_map>

#include "arch/clock.hpp"
#include "child.hpp"
#include "language/histogram/plan_builder.hpp"
#include "language/histogram/table_reader.hpp"
#include "ring/reader.hpp"

namespace landtrace::bench {
namespace values = language::values;
namespace ops = language::ops;
namespace {

using language::HistPlanDescription;

// Fields of user events lie one behind the other.
constexpr std::uint32_t kId = 0;
constexpr std::uint32_t kValue_at = 4;

template <typename T>
T or_broken(Result<T> result) {
  if (!result) throw Broken(result.error().message);
  return *std::move(result);
}
void or_broken(Result<void> result) {
  if (!result) throw Broken(result.error().message);
}

HistPlanDescription by_id(std::uint32_t size) {
  HistPlanDescription what;
  what.elements = size;
  what.keys.push_back(values::number({ops::field(kId, 4)}));
  return what;
}

struct Made {
  language::TableShape shape;
  std::uint64_t table;
  const hist::HistPlan* plan;
};

Made install(domain::Domain& domain, domain::Event& event, const HistPlanDescription& what) {
  Made made{or_broken(language::shape_of(what)), 0, nullptr};
  made.table = or_broken(domain.users().allocate(made.shape.layout.bytes));
  const std::uint32_t plan = or_broken(domain.control().store(language::build_hist_plan(what, made.shape, made.table)));
  // As rules/trigger_list.cc has it.
  event.files[domain.top().index].observers = {{plan::StepKind::kHistogram, !what.actions.empty(), 0, plan}};
  or_broken(domain.listening().hold_soft(domain.top(), event));
  made.plan =
      reinterpret_cast<const hist::HistPlan*>(reinterpret_cast<const std::byte*>(&domain.control().segment()) + plan);
  return made;
}

}  // namespace

domain::Event& Histograms::find(const std::string& name) {
  domain::Event* const event = domain_.events().find("user_events", name);
  if (event == nullptr) throw Broken("there is no event " + name);
  return *event;
}

void Histograms::count(const std::string& event, std::uint32_t size) {
  HistPlanDescription what = by_id(size);
  what.values.push_back(values::number({ops::field(kValue_at, 8)}));
  plans_[event] = install(domain_, find(event), what).plan;
}

void Histograms::measure(const std::string& start, const std::string& done, const std::string& made) {
  HistPlanDescription begin = by_id(2048);
  begin.variables.push_back(values::number({ops::timestamp(CLOCK_MONOTONIC, 1000)}));
  const Made started = install(domain_, find(start), begin);
  HistPlanDescription end = by_id(2048);
  end.references.push_back({started.table, started.shape.layout, started.shape.variables[0], true});
  end.variables.push_back(
      values::number({ops::timestamp(CLOCK_MONOTONIC, 1000), ops::reference(0), ops::op(hist::OpCode::kSubtract)}));
  language::HistActionDescription trace;
  trace.target = find(made).slot;
  trace.fixed_size = 16;
  trace.params = {{values::number({ops::field(kId, 4)}), 0, 8, false},
                  {values::number({ops::variable(0)}), 8, 8, false}};
  end.actions.push_back(trace);
  plans_[done] = install(domain_, find(done), end).plan;
}

std::uint64_t Histograms::hits(const std::string& event) const {
  std::vector<std::byte*> segments;
  for (const domain::User& user : domain_.users().all()) {
    segments.push_back(reinterpret_cast<std::byte*>(&user.data()));
  }
  return language::read_tables(*plans_.at(event), segments).hits;
}

std::uint64_t Histograms::aggregate(const std::string& event) {
  const std::uint32_t slot = find(event).slot;
  const domain::RingPlace& place = domain_.top().place;
  struct Sum {
    std::uint64_t hits = 0;
    std::uint64_t value = 0;
  };
  std::unordered_map<std::uint32_t, Sum> sums;
  const std::uint64_t begin = arch::monotonic_ns();
  for (const domain::User& user : domain_.users().all()) {
    for (std::uint32_t i = 0; i < domain_.instances().rings_per_set(); ++i) {
      ring::Reader reader(user.mapping.data() + place.rings + i * place.geometry.stride(), place.geometry);
      for (const ring::RecordView& record : reader.read().records) {
        if (record.header.event != slot) continue;
        std::uint32_t id = 0;
        std::uint64_t value = 0;
        std::memcpy(&id, record.payload.data() + kId, sizeof id);
        std::memcpy(&value, record.payload.data() + kValue_at, sizeof value);
        Sum& sum = sums[id];
        ++sum.hits;
        sum.value += value;
      }
    }
  }
  return arch::monotonic_ns() - begin;
}

std::uint64_t Histograms::answer(const std::string& line) {
  std::istringstream words(line);
  std::string command;
  std::string event;
  words >> command >> event;
  if (command == "hits") return hits(event);
  if (command == "aggregate") return aggregate(event);
  if (command == "count") {
    std::uint32_t size = 0;
    words >> size;
    count(event, size);
  } else {
    std::string done;
    std::string made;
    words >> done >> made;
    measure(event, done, made);
  }
  return 0;
}

}  // namespace landtrace::bench
