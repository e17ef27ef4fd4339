#include "tracefs/trace/settings.hpp"

#include "language/words.hpp"

namespace landtrace::tracefs {

Result<std::string> BufferPercent::text() {
  LT_CHECK(instance_->get());
  return std::to_string(instance_->buffer_percent) + '\n';
}

Result<std::size_t> BufferPercent::store(const Caller&, std::string_view bytes) {
  LT_CHECK(instance_->get());
  LT_TRY(const std::uint64_t percent, number_in(bytes, 10));
  if (percent > 100) return fail(EINVAL, "there are 100 percent");
  instance_->buffer_percent = static_cast<unsigned>(percent);
  return bytes.size();
}

Result<std::string> TraceClockFile::text() {
  LT_CHECK(instance_->get());
  return instance_->clock.text();
}

Result<std::size_t> TraceClockFile::store(const Caller&, std::string_view bytes) {
  LT_CHECK(instance_->get());
  if (bytes.empty()) return 0;
  LT_CHECK(instance_->select_clock(trimmed(language::until_nul(bytes))));
  return bytes.size();
}

Result<std::string> TimestampMode::text() {
  LT_CHECK(instance_->get());
  return "[delta] absolute\n";
}

Result<std::string> TracingOn::text() {
  LT_TRY(const domain::Instance* const instance, instance_->get());
  return instance_->domain.instances().is_tracing(*instance) ? "1\n" : "0\n";
}

Result<std::size_t> TracingOn::store(const Caller&, std::string_view bytes) {
  LT_TRY(domain::Instance* const instance, instance_->get());
  LT_TRY(const std::uint64_t number, number_in(bytes, 10));
  instance_->domain.instances().set_tracing(*instance, number != 0);
  return bytes.size();
}

}  // namespace landtrace::tracefs
