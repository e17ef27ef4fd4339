// `landtrace domain`
#include "cli/commands.hpp"
#include "cli/doctor/check.hpp"
#include "cli/domain_choice.hpp"
#include "cli/text_output.hpp"
#include "cli/failure.hpp"

namespace landtrace::cli {
namespace {

// The path alone in the first line, for scripts.
int tell_domain(const std::string& socket) {
  const ChosenDomain domain = choose_domain(socket);
  const doctor::Check check = doctor::check_domain("domain", domain.socket);
  TextOutput out;
  out.text() += fmt::format("{}\n{}\n{}\n", domain.socket, why_text(domain), check.detail);
  out.flush();
  const int status = out.status();
  return status != kSuccess ? status : check.state == doctor::State::kWorks ? kSuccess : kFailure;
}

}  // namespace

void add_domain(Program& program) {
  auto socket = std::make_shared<std::string>();
  Command& command = program.add("domain", "Tell which domain commands speak to here, and who serves it");
  command.option("--socket", *socket, "Socket of the domain; without it, the one that others take", {.type = "PATH"});
  command.examples(
      "Examples:\n"
      "  landtrace domain                                its socket, why that one, and who serves it\n"
      "  LANDTRACE_SOCKET=$(landtrace domain | head -1) ./server");
  command.runs([socket] { return tell_domain(*socket); });
}

}  // namespace landtrace::cli
