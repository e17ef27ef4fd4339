#include "host/probe_requests.hpp"

#include <fmt/format.h>

#include <cstring>

namespace landtrace::host {

Response places_refused(rules::Rules& rules, std::uint32_t pid, std::string_view text) {
  rules::ProbeObserver* const observer = rules.probes().observer();
  for (std::size_t at = 0; at + sizeof(ipc::RefusedPlace) <= text.size(); at += sizeof(ipc::RefusedPlace)) {
    ipc::RefusedPlace place;
    std::memcpy(&place, text.data() + at, sizeof place);
    if (observer != nullptr) observer->refused(pid, place.slot, place.generation, place.reason);
  }
  return {};
}

Response refused_places(rules::Rules& rules, const domain::Event* event, std::uint64_t from) {
  rules::ProbeObserver* const observer = rules.probes().observer();
  if (event == nullptr || observer == nullptr) return error_response(Error(ENOENT, "there is no such event"));
  Response response;
  if (const rules::Probe* const probe = rules::find_probe(*event)) {
    for (const rules::ProbePlace& place : probe->places) response.reply.b += observer->counts(*event, place).missed;
  }
  const auto refusals = observer->refusals(*event);
  for (std::uint64_t i = from; i < refusals.size(); ++i) {
    const rules::RefusedPlace& one = refusals[i];
    std::string entry = fmt::format("{} {} {}", one.pid, one.offset, one.program);
    for (const std::string& text : {one.object, one.why}) entry += '\0' + text;
    entry += '\0';
    if (response.text.size() + entry.size() > ipc::kMaxText) {
      response.reply.a = i;
      break;
    }
    response.text += entry;
  }
  return response;
}

}  // namespace landtrace::host
