// Answers scrapers over HTTP.
#pragma once

#include <memory>

#include "base/fd.hpp"
#include "metrics/serving/served.hpp"

struct MHD_Daemon;

namespace landtrace::metrics {

// What is answered at a socket. Has to stay in its place.
class HttpServer {
 public:
  explicit HttpServer(Served& served) : served_(served) {}
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // From a thread of its own, until this object goes. Once.
  Result<void> start(Fd listening);

  struct Asked {
    std::string method;
    std::string path;
    std::string host;     // as the header has it; "" without one
    std::string accepts;  // …
  };
  struct Answer {
    unsigned status = 0;
    std::string type;
    std::string text;
  };
  Answer answer(const Asked& asked);

 private:
  Served& served_;
  MHD_Daemon* daemon_ = nullptr;
  bool is_local_ = false;  // only programs of this machine reach it
};

}  // namespace landtrace::metrics
