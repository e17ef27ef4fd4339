// Who may ask the live page's server. Everything that a browser opens can send requests to 127.0.0.1: so each needs the
// token, which stands in the address that `landtrace ui` prints, and none may come from another site's page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace landtrace::ui {

struct Asked {
  std::string_view method;
  std::string_view path;
  std::string_view host;  // headers; empty: not there
  std::string_view origin;
  std::string_view fetch_site;  // Sec-Fetch-Site
  std::string_view marker;      // X-Landtrace, which other sites' pages cannot send unasked
};

class Access {
 public:
  // `hosts`: what the server goes by, "127.0.0.1:4711"; "*:4711" is any number, but no name. By another name comes a
  // page whose DNS entry leads here.
  Access(std::string token, std::vector<std::string> hosts) : token_(std::move(token)), hosts_(std::move(hosts)) {}

  // 32 hexadecimal digits from the system's source of random numbers.
  static Result<std::string> make_token();

  // What of the path is behind the token: "", "stream". EACCES: it may not.
  [[nodiscard]] Result<std::string> check(const Asked& asked) const;

 private:
  std::string token_;
  std::vector<std::string> hosts_;
};

}  // namespace landtrace::ui
