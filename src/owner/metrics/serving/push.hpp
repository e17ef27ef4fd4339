// Sends metrics to a collector as OTLP over HTTP, again and again.
#pragma once

#include <chrono>
#include <string>

#include "metrics/serving/current.hpp"

namespace landtrace::metrics {

struct Push {
  std::string url;  // "http://HOST:4318/v1/metrics"
  std::chrono::seconds interval{10};
};

// Until `stop` can be read. Says once on stderr that the collector does not take them, and once that it does again.
void push_until(int stop, Current& current, const Push& push);

}  // namespace landtrace::metrics
