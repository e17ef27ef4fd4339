// A ClickHouse server, over its HTTP interface.
#pragma once

#include <curl/curl.h>

#include <memory>
#include <string>

#include "fleet/store_address.hpp"

namespace landtrace::fleet {

class ClickHouse {
 public:
  explicit ClickHouse(StoreAddress address);

  // Makes the database and the table where they are not there. EPROTO: a table of another schema.
  Result<void> prepare();
  // Rows as append_row() writes them. When it returns, they are there.
  Result<void> insert(const std::string& rows);
  // As StoreQuery.
  Result<std::string> query(const std::string& sql, const std::string& picked);
  // Those of more than so many days ago, as old_partitions() has them.
  Result<void> drop_old(std::uint64_t keep_days);

  [[nodiscard]] std::string name() const { return address_.shown(); }

 private:
  struct CurlEnd {
    void operator()(CURL* curl) const { curl_easy_cleanup(curl); }
  };
  enum class In : std::uint8_t { kDatabase, kServer };
  [[nodiscard]] std::string url(In where, const std::string& parameters) const;
  // ECONNREFUSED where nobody answers, EACCES for a wrong user, EIO with what the server says.
  Result<std::string> post(const std::string& url, const std::string& body, curl_mime* parts = nullptr);
  Result<std::string> run(const std::string& sql, In where = In::kDatabase);

  const StoreAddress address_;
  std::unique_ptr<CURL, CurlEnd> curl_;  // one connection, which is used again
};

}  // namespace landtrace::fleet
