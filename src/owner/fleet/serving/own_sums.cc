#include "fleet/serving/own_sums.hpp"

#include <map>

#include "event/pattern.hpp"
#include "fleet/own_histograms.hpp"
#include "fleet/roster.hpp"
#include "fleet/serving/collecting.hpp"
#include "fleet/subjects.hpp"
#include "fleet/where.hpp"

namespace landtrace::fleet {
namespace {

using HostName = std::pair<std::string, std::string>;  // and its domain

Result<std::map<HostName, Status>> hosts_where(Transport& transport, const std::string& expression) {
  LT_TRY(const Where where, Where::parse(expression));
  LT_TRY(const std::vector<Outbox::Letter> said, transport.read(kStatusSubjects));
  std::map<HostName, Status> newest;
  for (const Outbox::Letter& one : said) {
    auto status = status_in(one.subject, one.bytes);
    if (!status) continue;
    const auto [known, is_first] = newest.try_emplace({status->host, status->domain}, *status);
    if (!is_first && is_newer(*status, known->second)) known->second = *std::move(status);
  }
  std::erase_if(newest, [&](const auto& one) { return !where.matches(one.second.all_labels()); });
  return newest;
}

bool is_event(const event::Pattern& pattern, const std::string& name) {
  const std::string event = event_of_own(name);
  const std::size_t colon = event.find(':');
  return colon != std::string::npos && pattern.matches(event.substr(0, colon), event.substr(colon + 1));
}

}  // namespace

Result<std::vector<Frame>> own_sums(Transport& transport, const std::string& event, const std::string& where,
                                    const std::string& by) {
  LT_TRY(const event::Pattern pattern, event::Pattern::parse(event));
  LT_TRY(const auto hosts, hosts_where(transport, where));
  Sums sums;
  LT_TRY(const std::vector<Outbox::Letter> frames, transport.read(frames_of(kOwn)));
  for (const Outbox::Letter& frame : frames) std::ignore = sums.add(frame.subject, frame.bytes);
  sums.keep_newest([&](const Sums::Key& key) {
    const auto host = hosts.find({key.host, key.domain});
    return host != hosts.end() && key.generation >= host->second.started && is_event(pattern, key.event);
  });
  std::vector<Frame> answer = answer_of(sums, kOwn, by);
  std::erase_if(answer, [](const Frame& sum) { return sum.table.keys.empty(); });  // they have gone everywhere
  return answer;
}

}  // namespace landtrace::fleet
