#include "fleet/fetched.hpp"

#include <nlohmann/json.hpp>

namespace landtrace::fleet {
namespace {

using Json = nlohmann::json;

}  // namespace

std::string json_of(const Fetched& fetched) {
  Json json{{"host", fetched.host}, {"domain", fetched.domain}, {"file", fetched.file}, {"problem", fetched.problem}};
  if (fetched.end) json["end"] = json_of(*fetched.end);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Fetched> fetched_of(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return fail(EBADMSG, "what came of a snapshot makes no sense");
  try {
    Fetched fetched{.host = json.at("host").get<std::string>(),
                    .domain = json.at("domain").get<std::string>(),
                    .file = json.at("file").get<std::string>(),
                    .problem = json.at("problem").get<std::string>()};
    if (json.contains("end")) {
      LT_TRY(fetched.end, snapshot_end_of(json.at("end").get<std::string>()));
    }
    return fetched;
  } catch (const Json::exception&) {
    return fail(EBADMSG, "what came of a snapshot makes no sense");
  }
}

}  // namespace landtrace::fleet
