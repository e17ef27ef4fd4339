#include "setting.hpp"

#include <cstdlib>

namespace landtrace::bench {

std::vector<std::string> Setting::to_arguments() const {
  return {folder,       tracefs.where,        tracefs.absent,     lttng.where,
          lttng.absent, quick ? "quick" : "", json ? "json" : "", std::to_string(repetitions),
          filter};
}

Setting Setting::from_arguments(char** arguments) {
  return {.folder = arguments[0],
          .tracefs = {arguments[1], arguments[2]},
          .lttng = {arguments[3], arguments[4]},
          .quick = *arguments[5] != '\0',
          .json = *arguments[6] != '\0',
          .repetitions = std::atoi(arguments[7]),
          .filter = arguments[8]};
}

}  // namespace landtrace::bench
