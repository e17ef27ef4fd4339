// Questions on a subject, each answered by one of those who listen there, in as many messages as it takes.
#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "fleet/serving/transport.hpp"

namespace landtrace::fleet {

// Called in a thread of libnats, one question after the other.
using Answerer = std::function<Result<std::string>(const std::string& question)>;

class Questions {
 public:
  Questions() = default;
  // No answer is under way behind it.
  ~Questions();
  Questions(const Questions&) = delete;
  Questions& operator=(const Questions&) = delete;

  Result<void> listen(const Transport& transport, const char* subject, Answerer answerer);

 private:
  static void take(natsConnection* connection, natsSubscription*, natsMsg* made, void* of);
  static void send(natsConnection* connection, const char* to, const std::string& answer);

  Answerer answerer_;
  std::mutex answering_;
  bool is_over_ = false;
  Subscription subscription_;
};

}  // namespace landtrace::fleet
