// The sums over hosts: of each histogram of each host the newest frame is kept, as bytes, and added up when somebody
// asks. What came twice, late or not at all changes nothing.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "fleet/frame.hpp"

namespace landtrace::fleet {

// The sum of an event's histograms.
struct Sum {
  std::string event;
  ipc::HistogramTable table;
  Unpaired unpaired;
  std::uint64_t hosts = 0;
  std::vector<std::string> misfits;  // hosts whose histogram has other keys, or whose frame makes no sense
};

class Sums {
 public:
  enum class Was : std::uint8_t { kNews, kKnown, kOlder };
  // EPROTO for what is no frame, and for one of another histogram than the subject's.
  Result<Was> add(const std::string& subject, std::string_view bytes);

  // Of an order, an entry for each event. `by`: labels, "host" and "domain" that stand before the keys; a label that a
  // host does not have is "".
  [[nodiscard]] std::vector<Sum> of(const std::string& order, const std::vector<std::string>& by = {}) const;

  // The newest frame of each histogram of an order, event by event. One that makes no sense has no table: `frame` is
  // null then.
  void each_of(const std::string& order,
               const std::function<void(const std::string& event, const std::string& host, const Frame* frame)>& take)
      const;
  // Of which there are frames.
  [[nodiscard]] std::vector<std::string> orders() const;
  // Forgets an order.
  void forget(const std::string& order);

  // Forgets histograms whose newest frame was made before this time, in nanoseconds since 1970.
  void forget_before(std::uint64_t time_ns);

  [[nodiscard]] std::size_t histograms() const { return newest_.size(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  // What is one histogram of one host.
  struct Key {
    std::string order;
    std::string event;
    std::string host;
    std::string boot;
    std::string domain;
    std::uint64_t generation = 0;

    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Newest {
    std::uint64_t sequence = 0;
    std::uint64_t time_ns = 0;
    std::string bytes;
  };

  std::map<Key, Newest> newest_;
  std::size_t bytes_ = 0;
};

}  // namespace landtrace::fleet
