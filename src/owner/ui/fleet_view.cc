#include "ui/fleet_view.hpp"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "arch/clock.hpp"
#include "fleet/where.hpp"

namespace landtrace::ui {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;
using fleet::FeedRecord;

constexpr auto kUnwatched = 20s;  // a page that is loaded again finds all there
constexpr auto kUnasked = 10s;    // an order that no page asks for
constexpr auto kTryAgain = 1s;    // what should run and does not
constexpr std::size_t kMostReasons = 8;
constexpr std::size_t kMostRefused = 64;

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// Of "landtrace.DOMAIN.HOST.hist.ORDER.GENERATION.EVENT".
std::string order_in(std::string_view subject) {
  constexpr int kBefore = 4;
  for (int i = 0; i < kBefore; ++i) subject.remove_prefix(std::min(subject.find('.'), subject.size() - 1) + 1);
  return std::string(subject.substr(0, subject.find('.')));
}

// What can be an order's, and stands in a line of its own and in a subject.
bool is_id(const std::string& text) {
  constexpr std::size_t kLongest = 64;
  return !text.empty() && text.size() <= kLongest &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; });
}

Json state_json(const fleet::OrderState& state) {
  constexpr const char* kStates[] = {"applied", "refused", "ended"};
  Json refusals = Json::array();
  for (const fleet::Refusal& refusal : state.refusals) {
    if (refusals.size() < kMostReasons) refusals.push_back({refusal.event, refusal.reason});
  }
  return {{"id", state.id},           {"state", kStates[static_cast<std::size_t>(state.now)]},
          {"events", state.events},   {"refusals", std::move(refusals)},
          {"missing", state.missing}, {"there", state.there}};
}

Json member_json(const fleet::Roster::Member& member, std::uint64_t monotonic_ns) {
  const fleet::Status& status = member.status;
  Json orders = Json::array();
  for (const fleet::OrderState& state : status.orders) orders.push_back(state_json(state));
  return {{"number", member.number},
          {"host", status.host},
          {"domain", status.domain},
          {"labels", status.labels},
          {"version", status.version},
          {"ageMs", member.age_ns(monotonic_ns) / 1'000'000},
          {"intervalMs", status.interval_ms},
          {"users", status.users},
          {"events", status.events},
          {"enabled", status.enabled},
          {"recorded", status.recorded},
          {"rate", member.recorded_rate},
          {"lost", status.lost},
          {"lostRate", member.lost_rate},
          {"unsent", status.unsent},
          {"orders", std::move(orders)}};
}

Json order_json(const fleet::Order& order, std::uint64_t now_ns) {
  Json json{{"id", order.id},
            {"kind", fleet::kind_text(order.kind)},
            {"where", order.where},
            {"about", fleet::about(order)},
            {"probeGroup", order.probe.object.empty() ? "" : fleet::probe_group(order.id) + ":"},
            {"event", order.event},
            {"to", order.to},
            {"key", order.key},
            {"by", order.by},
            {"filter", order.filter},
            {"triggers", order.triggers},
            {"byWhom", order.by_whom},
            {"hasEnded", order.has_ended(now_ns)}};
  const std::uint64_t left_ns = order.has_ended(now_ns) ? 0 : order.until_ns - now_ns;
  json["leftMs"] = order.until_ns == 0 ? Json() : Json(left_ns / 1'000'000);
  return json;
}

}  // namespace

void FleetView::begin(Time now) {
  if (feed_ || now < next_begin_) return;
  next_begin_ = now + kTryAgain;
  auto feed = fleet::Feed::start(options_.helper);
  if (!feed) {
    said_ = feed.error().message;
    state_has_changed_ = true;
    return;
  }
  feed_.emplace(*std::move(feed));
  orders_.clear();
  refused_orders_.clear();
  orders_have_changed_ = true;
  for (const auto& [order, followed] : followed_) feed_->follow(order);
}

bool FleetView::look() {
  const Time now = Clock::now();
  unwatched_since_ = {};
  begin(now);
  leave_unasked(now);
  if (feed_) {
    const auto records = feed_->take();
    if (records) {
      for (const FeedRecord& record : *records) take(record);
    } else {
      feed_.reset();
      is_connected_ = false;
      said_ = records.error().message;
      state_has_changed_ = true;
    }
  }
  for (const std::uint64_t number : roster_.forget_silent(arch::monotonic_ns())) gone_.push_back(number);
  const bool has_task_news = tasks_.look();
  return has_task_news || !gone_.empty() || !changed_.empty() || orders_have_changed_ || state_has_changed_;
}

void FleetView::look_unwatched() {
  const Time now = Clock::now();
  if (unwatched_since_ == Time{}) unwatched_since_ = now;
  if (now - unwatched_since_ > kUnwatched) {
    tasks_.stop_all();
    feed_.reset();
    followed_.clear();
    is_connected_ = false;
    said_ = "connecting";
  }
  if (!tasks_.is_empty()) tasks_.look();
}

void FleetView::leave_unasked(Time now) {
  std::erase_if(followed_, [&](const auto& one) {
    const bool is_unasked = now - one.second.asked > kUnasked;
    if (is_unasked && feed_) feed_->leave(one.first);
    return is_unasked;
  });
}

void FleetView::take(const FeedRecord& record) {
  switch (record.kind) {
    case FeedRecord::Kind::kConnected:
    case FeedRecord::Kind::kAway:
      is_connected_ = record.kind == FeedRecord::Kind::kConnected;
      said_ = record.bytes;
      state_has_changed_ = true;
      roster_.begin_again();
      break;
    case FeedRecord::Kind::kStatus:
      if (const auto* const member = roster_.take(record.name, record.bytes, fleet::Moment::now())) {
        changed_.insert({member->status.host, member->status.domain});
      } else {
        state_has_changed_ = true;  // what is left out is told, too
      }
      break;
    case FeedRecord::Kind::kOrder: {
      auto order = fleet::order_of(record.bytes);
      orders_.erase(record.name);
      if (order) order->id = record.name;  // as hosts take it
      if (order) orders_.emplace(record.name, *std::move(order));
      if (!order && refused_orders_.size() < kMostRefused) refused_orders_.insert(record.name);
      orders_have_changed_ = true;
      break;
    }
    case FeedRecord::Kind::kGone:
      orders_.erase(record.name);
      refused_orders_.erase(record.name);
      orders_have_changed_ = true;
      break;
    case FeedRecord::Kind::kFrame:
      if (const auto followed = followed_.find(order_in(record.name)); followed != followed_.end()) {
        followed->second.counts.take(record.name, record.bytes);
      }
      break;
  }
}

Result<std::string> FleetView::choose(const std::string& text) const {
  LT_TRY(const fleet::Where where, fleet::Where::parse(text));
  Json numbers = Json::array();
  for (const auto& [name, member] : roster_.members()) {
    if (where.matches(member.status.all_labels())) numbers.push_back(member.number);
  }
  return text_of(numbers);
}

Result<std::string> FleetView::counts(const std::string& order, const std::string& by) {
  if (!is_id(order)) return fail(EINVAL, "that is no order");
  const bool is_known = followed_.contains(order);
  Followed& followed = followed_[order];
  followed.asked = Clock::now();
  if (!is_known && feed_) feed_->follow(order);
  return followed.counts.json(order, by);
}

std::string FleetView::news(bool all) {
  const std::uint64_t now_ns = fleet::wall_ns();
  const std::uint64_t monotonic_ns = arch::monotonic_ns();
  Json hosts = Json::array();
  for (const auto& [name, member] : roster_.members()) {
    if (all || changed_.contains(name)) hosts.push_back(member_json(member, monotonic_ns));
  }
  Json json{{"isConnected", is_connected_},
            {"said", said_},
            {"servers", options_.servers},
            {"isWhole", all},
            {"refusedHosts", roster_.refused()},
            {"hosts", std::move(hosts)},
            {"goneHosts", gone_}};
  if (all || orders_have_changed_) {
    Json orders = Json::array();
    for (const auto& [id, order] : orders_) orders.push_back(order_json(order, now_ns));
    json["orders"] = std::move(orders);
    json["refusedOrders"] = refused_orders_;
  }
  if (!all) {
    changed_.clear();
    gone_.clear();
    orders_have_changed_ = state_has_changed_ = false;
  }
  std::string text = text_of(json);
  text.pop_back();
  return text + ",\"tasks\":" + tasks_.news(all) + "}";
}

}  // namespace landtrace::ui
