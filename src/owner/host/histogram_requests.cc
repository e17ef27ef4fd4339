#include "host/histogram_requests.hpp"

#include "host/session_requests.hpp"
#include "tracefs/events/address_names.hpp"

namespace landtrace::host {
namespace {

// The same users as by the modes of the tree.
Result<void> may_read_files(const Context& c) {
  if (!c.domain.registrar().is_guest(c.who.uid) || c.connection.in_group) return {};
  return fail(EACCES, "histograms are for the user who runs the domain, root and members of its group");
}

// kNotYet: they are being read, and the same request is to come again.
Result<std::string> read_histograms(const Context& c) {
  LT_CHECK(may_read_files(c));
  Connection::Reading& reading = c.connection.reading;
  if (reading.tables && reading.what == c.text && reading.of_session == (c.request.b == 1)) {
    if (!reading.tables->is_there()) return fail(tracefs::kNotYet);
    return std::exchange(reading.tables, nullptr)->take();
  }
  reading = {};
  const auto [system, name, instance_name] = texts_of<3>(c.text);
  const domain::Instance* const instance = c.request.b == 1 ? session_of(c) : c.domain.instances().find(instance_name);
  if (instance == nullptr) return fail(ENOENT, "there is no such instance");
  const domain::Event* const event = c.domain.events().find(system, name);
  if (event == nullptr) return fail(ENOENT, "there is no such event");
  auto names = std::make_unique<tracefs::ProducerNames>(c.domain.users(), c.rules.functions());
  rules::HistogramReading what = c.rules.histograms().reading(*instance, *event);
  if (!what.is_long()) return rules::tables_of(what, *names);
  auto source = rules::source_of(c.domain, std::move(what), std::move(names), rules::tables_of);
  reading = {std::string(c.text), c.request.b == 1, c.rules.long_reads().begin(std::move(source))};
  return fail(tracefs::kNotYet);
}

// "INSTANCE\0SYSTEM\0EVENT\0" of each event with histograms.
std::vector<std::string> histogram_entries(const Context& c) {
  std::vector<std::string> entries;
  for (const domain::Instance* const instance : c.domain.instances().all()) {
    if (instance->is_recorder()) continue;
    for (const domain::Event* const event : c.domain.events().all_and_print()) {
      if (!rules::Histograms::has_any(*instance, *event)) continue;
      std::string& entry = entries.emplace_back();
      for (const std::string& part : {instance->name, event->system, event->name}) entry.append(part).push_back('\0');
    }
  }
  return entries;
}

}  // namespace

// All pieces of an answer show the moment of the first.
Response histograms(const Context& c) {
  std::string& bytes = c.connection.histograms;
  if (c.request.a == 0) {
    auto read = read_histograms(c);
    if (!read) return error_response(read.error());
    bytes = *std::move(read);
  }
  if (c.request.a >= bytes.size()) return error_response(Error(EINVAL, "there is no such piece"));
  Response response;
  response.reply.a = bytes.size();
  response.text = bytes.substr(c.request.a, ipc::kMaxText);
  if (c.request.a + response.text.size() == bytes.size()) bytes = {};
  return response;
}

Response histogram_events(const Context& c) {
  if (const auto may = may_read_files(c); !may) return error_response(may.error());
  const std::vector<std::string> entries = histogram_entries(c);
  Response response;
  for (std::size_t i = c.request.a; i < entries.size(); ++i) {
    if (response.text.size() + entries[i].size() > ipc::kMaxText) {
      response.reply.a = i;
      break;
    }
    response.text += entries[i];
  }
  return response;
}

}  // namespace landtrace::host
