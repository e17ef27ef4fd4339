#include "fleet/serving/counting.hpp"

#include <set>

namespace landtrace::fleet {
namespace {

// An event that went meanwhile, or has no histogram.
bool is_gone(const Error& error) { return error.code == ENOENT || error.code == ENODEV || error.code == EIO; }

}  // namespace

Result<std::unique_ptr<SessionWork>> Counting::begin(std::unique_ptr<consumer::DomainView> view,
                                                     consumer::Session session, const Order& order) {
  LT_TRY(event::Pattern pattern, event::Pattern::parse(order.event));
  std::unique_ptr<Counting> work(new Counting(std::move(view), std::move(session), std::move(pattern)));
  LT_CHECK(work->session_.record(false));
  LT_CHECK(work->session_.select({.pattern = order.event, .filter = order.filter, .triggers = order.triggers}));
  return work;
}

Result<void> Counting::counted(const TakeCounted& take) {
  seen_.refresh();
  std::set<std::string> names;
  events_ = 0;
  for (const output::EventType& type : seen_.types()) {
    const std::string name = type.system + ":" + type.name;
    if (!pattern_.matches(type.system, type.name) || !names.insert(name).second) continue;
    auto tables = session_.histograms(name);
    if (!tables && !is_gone(tables.error())) return tl::unexpected<Error>(tables.error());
    if (!tables || tables->empty()) continue;
    events_ += tables->front().hits;
    take({name, std::move(tables->front()), {}});
  }
  return {};
}

void Counting::end() { std::ignore = session_.stop(); }

}  // namespace landtrace::fleet
