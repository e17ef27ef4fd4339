#include "fleet/sums.hpp"

#include <set>

#include "fleet/labels.hpp"
#include "fleet/subjects.hpp"
#include "fleet/table_sum.hpp"

namespace landtrace::fleet {
namespace {

std::vector<std::string> group_of(const Frame& frame, const std::vector<std::string>& by) {
  std::vector<std::string> group;
  Labels labels = parse_labels(frame.labels).value_or(Labels());
  labels[kHostLabel] = frame.host;
  labels[kDomainLabel] = frame.domain;
  for (const std::string& name : by) group.push_back(labels[name]);
  return group;
}

// The frames of one event.
class EventSum {
 public:
  explicit EventSum(const std::vector<std::string>& by) : by_(by) {}

  void add(const std::string& host, std::string_view bytes) {
    const auto frame = decode_frame(bytes);
    if (!frame || !sum_.add(frame->table, by_, group_of(*frame, by_))) {
      misfits_.insert(host);
      return;
    }
    hosts_.insert(host);
    unpaired_.starts += frame->unpaired.starts;
    unpaired_.ends += frame->unpaired.ends;
    unpaired_.lost += frame->unpaired.lost;
  }

  [[nodiscard]] Sum sum(const std::string& event) const {
    return {event, sum_.table(), unpaired_, hosts_.size(), {misfits_.begin(), misfits_.end()}};
  }

 private:
  const std::vector<std::string>& by_;
  TableSum sum_;
  Unpaired unpaired_;
  std::set<std::string> hosts_;
  std::set<std::string> misfits_;
};

}  // namespace

Result<Sums::Was> Sums::add(const std::string& subject, std::string_view bytes) {
  LT_TRY(Frame head, decode_head(bytes));
  LT_CHECK(check_subject(subject, head));
  Newest& newest = newest_[{std::move(head.order), std::move(head.event), std::move(head.host), std::move(head.boot),
                            std::move(head.domain), head.generation}];
  if (!newest.bytes.empty() && head.sequence <= newest.sequence) {
    return head.sequence == newest.sequence ? Was::kKnown : Was::kOlder;
  }
  bytes_ = bytes_ - newest.bytes.size() + bytes.size();
  newest = {head.sequence, head.time_ns, std::string(bytes)};
  return Was::kNews;
}

std::vector<Sum> Sums::of(const std::string& order, const std::vector<std::string>& by) const {
  std::vector<Sum> sums;
  for (auto at = newest_.lower_bound({order, {}, {}, {}, {}, 0}); at != newest_.end() && at->first.order == order;) {
    const std::string event = at->first.event;
    EventSum sum(by);
    for (; at != newest_.end() && at->first.order == order && at->first.event == event; ++at) {
      sum.add(at->first.host, at->second.bytes);
    }
    sums.push_back(sum.sum(event));
  }
  return sums;
}

void Sums::each_of(
    const std::string& order,
    const std::function<void(const std::string& event, const std::string& host, const Frame* frame)>& take) const {
  const auto first = newest_.lower_bound({order, {}, {}, {}, {}, 0});
  for (auto at = first; at != newest_.end() && at->first.order == order; ++at) {
    const auto frame = decode_frame(at->second.bytes);
    take(at->first.event, at->first.host, frame ? &*frame : nullptr);
  }
}

std::vector<std::string> Sums::orders() const {
  std::vector<std::string> orders;
  for (const auto& [key, newest] : newest_) {
    if (orders.empty() || orders.back() != key.order) orders.push_back(key.order);
  }
  return orders;
}

void Sums::forget(const std::string& order) {
  std::erase_if(newest_, [&](const auto& one) {
    if (one.first.order != order) return false;
    bytes_ -= one.second.bytes.size();
    return true;
  });
}

void Sums::forget_before(std::uint64_t time_ns) {
  std::erase_if(newest_, [&](const auto& one) {
    if (one.second.time_ns >= time_ns) return false;
    bytes_ -= one.second.bytes.size();
    return true;
  });
}

}  // namespace landtrace::fleet
