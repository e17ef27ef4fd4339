// Logs by spdlog: three messages, one of them below the logger's level, and one that is too long for an event.
#include <landtrace/bridges/spdlog.hpp>
#include <spdlog/spdlog.h>

int main() {
  spdlog::logger logger("web", std::make_shared<landtrace::bridges::SpdlogSink>());
  logger.set_level(spdlog::level::debug);
  logger.trace("not this one");
  logger.debug("{} of {}", 1, 2);
  SPDLOG_LOGGER_ERROR(&logger, "a \"text\"");
  logger.info(std::string(100000, 'x'));
}
