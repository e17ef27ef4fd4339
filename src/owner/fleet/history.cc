#include "fleet/history.hpp"

#include <nlohmann/json.hpp>

#include "fleet/labels.hpp"

namespace landtrace::fleet {
namespace {

using Json = nlohmann::json;

}  // namespace

std::string json_of(const HistoryQuestion& question) {
  return Json{{"order", question.order},
              {"from_ns", question.period.from_ns},
              {"until_ns", question.period.until_ns},
              {"every_ns", question.period.every_ns},
              {"is_open", question.period.is_open},
              {"where", question.where},
              {"per", question.per},
              {"sequence", question.sequence}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<HistoryQuestion> history_question_of(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return fail(EINVAL, "a question that makes no sense");
  try {
    HistoryQuestion question;
    question.order = json.at("order").get<std::string>();
    question.period.from_ns = json.at("from_ns").get<std::uint64_t>();
    question.period.until_ns = json.at("until_ns").get<std::uint64_t>();
    question.period.every_ns = json.value("every_ns", question.period.every_ns);
    question.period.is_open = json.value("is_open", false);
    question.where = json.value("where", "");
    question.per = json.value("per", question.per);
    question.sequence = json.value("sequence", question.sequence);
    LT_CHECK(question.period.check());
    return question;
  } catch (const Json::exception&) {
    return fail(EINVAL, "a question that makes no sense");
  }
}

// A line of JSON, then the frames.
std::string bytes_of(const History& history) {
  const Json head{{"source", history.source},
                  {"note", history.note},
                  {"reaches_ns", history.reaches_ns},
                  {"resolution_ns", history.resolution_ns}, {"dropped_bytes", history.dropped_bytes},
                  {"unclear", history.unclear},       {"is_behind", history.is_behind},
                  {"misfits", history.misfits},       {"no_room", history.no_room}};
  return head.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n" + encode(history.frames);
}

Result<History> history_of(const std::string& bytes) {
  const std::size_t end = std::min(bytes.find('\n'), bytes.size());
  const Json json = Json::parse(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
  if (!json.is_object() || end == bytes.size()) return fail(EPROTO, "an answer that makes no sense");
  try {
    History history;
    history.source = json.at("source").get<std::string>();
    history.note = json.value("note", "");
    history.reaches_ns = json.at("reaches_ns").get<std::uint64_t>();
    history.resolution_ns = json.at("resolution_ns").get<std::uint64_t>();
    history.dropped_bytes = json.at("dropped_bytes").get<std::uint64_t>();
    history.unclear = json.at("unclear").get<std::uint64_t>();
    history.is_behind = json.at("is_behind").get<bool>();
    history.misfits = json.at("misfits").get<std::vector<std::string>>();
    history.no_room = json.value("no_room", history.no_room);
    LT_TRY(history.frames, decode_frames(std::string_view(bytes).substr(end + 1)));
    return history;
  } catch (const Json::exception&) {
    return fail(EPROTO, "an answer that makes no sense");
  }
}

void append_frames(History& history, const std::string& order, const std::string& event, const Period& period,
                   const SlotTables& tables) {
  std::uint32_t number = 0;
  for (SlotTables::Slot& slot : tables.slots()) {
    ++number;
    Frame& frame = history.frames.emplace_back();
    frame.order = order;
    frame.event = event;
    frame.sequence = number;
    frame.generation = period.begin_of(number);
    frame.time_ns = period.end_of(number);
    frame.unpaired = slot.unpaired;
    frame.table = std::move(slot.table);
  }
}

std::vector<std::string> group_of(const std::string& host, const std::string& domain, const std::string& labels,
                                  const std::vector<std::string>& per) {
  std::vector<std::string> group;
  if (per.empty()) return group;
  Labels all = parse_labels(labels).value_or(Labels());
  all[kHostLabel] = host;
  all[kDomainLabel] = domain;
  for (const std::string& name : per) group.push_back(all[name]);
  return group;
}

}  // namespace landtrace::fleet
