#include "fleet/slow_sum.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <tuple>

namespace landtrace::fleet {
namespace {

// All keys but the step.
std::string bucket_of(const Slow& slow) {
  std::string name = std::to_string(std::bit_width(slow.ns));
  for (std::size_t i = 0; i + 1 < slow.keys.size(); ++i) {
    const ipc::HistogramKeyValue& key = slow.keys[i];
    name += " " + std::to_string(key.number) + " " + std::to_string(key.text.size()) + " " + key.text;
  }
  return name;
}

}  // namespace

std::vector<Slow> slowest_of(std::vector<Slow> all) {
  std::ranges::stable_sort(all, [](const Slow& a, const Slow& b) {
    return std::tuple(b.ns, a.host, a.time_ns) < std::tuple(a.ns, b.host, b.time_ns);
  });
  std::set<std::string> known;
  std::erase_if(all, [&](const Slow& slow) { return !known.insert(bucket_of(slow)).second; });
  return all;
}

// A host may begin as many generations as it likes.
void SlowSum::add(const Frame& frame, const std::vector<std::string>& group) {
  std::vector<Slow>& of_host = hosts_[frame.host];
  for (Slow slow : frame.slowest) {
    slow.host = frame.host;
    std::vector<ipc::HistogramKeyValue> keys;
    for (const std::string& text : group) keys.push_back({0, text, {}});
    slow.keys.insert(slow.keys.begin(), keys.begin(), keys.end());
    of_host.push_back(std::move(slow));
  }
  of_host = slowest_of(std::move(of_host));
  of_host.resize(std::min(of_host.size(), kMostSlow));
}

std::vector<Slow> SlowSum::slowest() const {
  std::vector<Slow> all;
  for (const auto& [host, of_host] : hosts_) all.insert(all.end(), of_host.begin(), of_host.end());
  return slowest_of(std::move(all));
}

}  // namespace landtrace::fleet
