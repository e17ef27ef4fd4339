// `landtrace doctor`
#include <unistd.h>

#include "cli/commands.hpp"
#include "cli/doctor/attempt.hpp"
#include "cli/doctor/check.hpp"
#include "cli/failure.hpp"
#include "cli/text_output.hpp"

namespace landtrace::cli {
namespace {

std::vector<doctor::Check> find_out() {
  // First, because some of these fork, which wants a process with one thread: check_ways() starts a domain's thread.
  std::vector<doctor::Check> checks = doctor::check_mounting();
  for (auto more : {&doctor::check_machine, &doctor::check_probes, &doctor::check_domains, &doctor::check_ways}) {
    for (doctor::Check& check : more()) checks.push_back(std::move(check));
  }
  return checks;
}

int examine(bool json) {
  const std::vector<doctor::Check> checks = find_out();
  TextOutput out;
  out.text() += json ? doctor::json_text(checks) : doctor::human_text(checks, Screen::of(STDOUT_FILENO).columns);
  out.flush();
  const int status = out.status();
  return status != kSuccess ? status : doctor::can_record(checks) ? kSuccess : kFailure;
}

}  // namespace

void add_doctor(Program& program) {
  auto json = std::make_shared<bool>(false);
  auto way = std::make_shared<std::string>();
  Command& command = program.add("doctor", "Try what works here, and say what to do about the rest");
  command.flag("--json", *json, "Print JSON");
  command.option("--attempt", *way, "", {.hidden = true});  // it starts itself with this
  command.examples(
      "Examples:\n"
      "  landtrace doctor                                what works here, and what to do about the rest\n"
      "  landtrace doctor --json | jq '.checks[] | select(.state == \"missing\")'");
  command.runs([json, way] { return way->empty() ? examine(*json) : doctor::attempt(*way); });
}

}  // namespace landtrace::cli
