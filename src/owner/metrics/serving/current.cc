#include "metrics/serving/current.hpp"

namespace landtrace::metrics {
namespace {

constexpr std::chrono::milliseconds kFreshFor{100};

}  // namespace

Result<std::vector<Family>> Current::families() {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (!taken_ || now - *taken_ > kFreshFor) {
    LT_CHECK(refresh());
    taken_ = now;
  }
  return families_;
}

// Another owner may have come since.
Result<void> Current::refresh() {
  const bool was_connected = asker_.has_value();
  if (!was_connected) {
    LT_TRY(asker_, Asker::connect(socket_, counted_));
  }
  auto figures = asker_->ask();
  if (!figures) {
    asker_.reset();
    return was_connected ? refresh() : tl::unexpected(figures.error());
  }
  families_ = families_of(*figures);
  return {};
}

}  // namespace landtrace::metrics
