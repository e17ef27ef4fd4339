#include "fleet/serving/clickhouse.hpp"

#include <fmt/format.h>

#include <array>

#include "fleet/store_row.hpp"
#include "fleet/store_sql.hpp"

namespace landtrace::fleet {
namespace {

constexpr long kConnect_ms = 3000;
constexpr long kPatience_ms = 60'000;
constexpr long kOk = 200, kUnauthorized = 401, kForbidden = 403;
// A query has less than that; what a table of its own is sent with is no part of it.
constexpr std::size_t kMostReply = 1u << 30;

std::size_t take(char* bytes, std::size_t, std::size_t count, void* to) {
  auto& reply = *static_cast<std::string*>(to);
  if (reply.size() + count > kMostReply) return 0;
  reply.append(bytes, count);
  return count;
}

// "Code: 60, e.displayText() = DB::Exception: …, e.what() = DB::Exception" in one line.
std::string said_by_server(std::string text) {
  constexpr std::string_view kBefore = "DB::Exception: ";
  constexpr std::size_t kMost = 300;
  const std::size_t begin = text.find(kBefore);
  if (begin != std::string::npos) text.erase(0, begin + kBefore.size());
  text.erase(std::min(text.find(", e.what()"), text.size()));
  text.erase(std::min(text.find('\n'), text.size()));
  if (text.size() > kMost) text.erase(kMost).append("…");
  return text.empty() ? "nothing" : text;
}

// Codes of errors that are those of who asks: 192 to 194, 516.
bool is_of_user(const std::string& text) {
  for (const char* const code : {"Code: 192,", "Code: 193,", "Code: 194,", "Code: 516.", "Code: 516,", "Code: 497."}) {
    if (text.starts_with(code)) return true;
  }
  return false;
}

std::string escaped(CURL* curl, std::string_view text) {
  char* const made = curl_easy_escape(curl, text.data(), static_cast<int>(text.size()));
  std::string out(made == nullptr ? "" : made);
  curl_free(made);
  return out;
}

}  // namespace

ClickHouse::ClickHouse(StoreAddress address) : address_(std::move(address)), curl_(curl_easy_init()) {}

std::string ClickHouse::url(In where, const std::string& parameters) const {
  std::string url = address_.url() + "?";
  if (where == In::kDatabase) url += "database=" + escaped(curl_.get(), address_.database);
  if (!parameters.empty()) url += "&" + parameters;
  return url;
}

Result<std::string> ClickHouse::post(const std::string& url, const std::string& body, curl_mime* parts) {
  CURL* const curl = curl_.get();
  if (curl == nullptr) return fail(ENOMEM, "libcurl");
  curl_easy_reset(curl);
  std::string reply;
  std::array<char, CURL_ERROR_SIZE> why{};
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, kConnect_ms);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, kPatience_ms);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &reply);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, why.data());
  if (!address_.user.empty()) {
    curl_easy_setopt(curl, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
    curl_easy_setopt(curl, CURLOPT_USERNAME, address_.user.c_str());
    curl_easy_setopt(curl, CURLOPT_PASSWORD, address_.password.c_str());
  }
  if (parts != nullptr) {
    curl_easy_setopt(curl, CURLOPT_MIMEPOST, parts);
  } else {
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.data());
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  }
  const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers(curl_slist_append(nullptr, "Expect:"),
                                                                            curl_slist_free_all);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  const CURLcode code = curl_easy_perform(curl);
  if (code != CURLE_OK) {
    // "… after 8 ms": who says the same only once would say it each time.
    const bool is_told = why[0] != '\0' && code != CURLE_COULDNT_CONNECT;
    const char* const reason = is_told ? why.data() : curl_easy_strerror(code);
    return fail(ECONNREFUSED, fmt::format("the store {}: {}", name(), reason));
  }
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  if (status == kOk) return reply;
  const bool is_refused = status == kUnauthorized || status == kForbidden || is_of_user(reply);
  return fail(is_refused ? EACCES : EIO,
              fmt::format("the store {} says: {}", name(), said_by_server(std::move(reply))));
}

Result<std::string> ClickHouse::run(const std::string& sql, In where) { return post(url(where, ""), sql); }

Result<void> ClickHouse::prepare() {
  LT_CHECK(run("CREATE DATABASE IF NOT EXISTS " + sql_name(address_.database), In::kServer));
  LT_CHECK(run(create_table_sql()));
  LT_TRY(std::string schema, run(schema_sql()));
  schema.erase(std::min(schema.find('\n'), schema.size()));
  if (schema == std::to_string(kSchema)) return {};
  return fail(EPROTO,
              fmt::format("the store {} has a table {} of another schema ({}, not {}): update this one, or name "
                          "another database",
                          name(), kStoreTable, schema.empty() ? "none" : schema, kSchema));
}

Result<void> ClickHouse::insert(const std::string& rows) {
  LT_CHECK(post(url(In::kDatabase, "query=" + escaped(curl_.get(), insert_sql())), rows));
  return {};
}

Result<std::string> ClickHouse::query(const std::string& sql, const std::string& picked) {
  if (picked.empty()) return run(sql);
  const std::unique_ptr<curl_mime, decltype(&curl_mime_free)> parts(curl_mime_init(curl_.get()), curl_mime_free);
  curl_mimepart* const part = curl_mime_addpart(parts.get());
  curl_mime_name(part, kPicked);
  curl_mime_filename(part, kPicked);
  curl_mime_data(part, picked.data(), picked.size());
  const std::string parameters = fmt::format("query={}&{}_structure={}&{}_format=RowBinary", escaped(curl_.get(), sql),
                                             kPicked, escaped(curl_.get(), kPickedColumns), kPicked);
  return post(url(In::kDatabase, parameters), "", parts.get());
}

Result<void> ClickHouse::drop_old(std::uint64_t keep_days) {
  LT_TRY(const std::string lines, run(partitions_sql()));
  for (const std::string& id : old_partitions(lines, keep_days)) LT_CHECK(run(drop_partition_sql(id)));
  return {};
}

}  // namespace landtrace::fleet
