// HTTP for the live page, by libmicrohttpd, in the caller's own loop: one thread, no locks.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "ui/access.hpp"

namespace landtrace::ui {

struct Request {
  std::string method;
  std::string path;  // behind the token
  std::map<std::string, std::string> arguments;
  std::string body;
};

struct Answer {
  unsigned status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body = {};
  std::string file = {};  // what a browser is to save it as; empty: it shows it
};

class Server {
 public:
  struct Calls {
    std::function<Answer(const Request&)> answer;
    std::function<std::string()> greeting;  // the first message of a stream
  };
  // "127.0.0.1:4711", "[::1]:0" (any free port). EINVAL: it is none; EADDRINUSE and what bind(2) says; ENOTSUP: built
  // without libmicrohttpd.
  static Result<std::unique_ptr<Server>> start(const std::string& listen, const std::string& token, Calls calls);

  Server() = default;
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  virtual ~Server() = default;

  // "127.0.0.1:4711"
  [[nodiscard]] virtual std::string address() const = 0;
  // Whether others than this machine's reach it.
  [[nodiscard]] virtual bool is_open_to_others() const = 0;
  // Waits for requests, as long as that, and answers them.
  virtual void run(int timeout_ms) = 0;
  // To all who have a stream open (server-sent events, at `stream`). One that does not read gets no more for a while,
  // and a greeting when it has read what waited.
  virtual void send(const std::string& message) = 0;
  [[nodiscard]] virtual std::size_t streams() const = 0;
};

}  // namespace landtrace::ui
