// `landtrace ui`: becomes landtrace-ui, the program that has the HTTP server in it.
#include <memory>

#include "cli/commands.hpp"
#include "cli/domain_choice.hpp"
#include "cli/failure.hpp"
#include "cli/tree_command.hpp"
#include "cli/ui_page.hpp"

namespace landtrace::cli {
namespace {

int become_ui(const std::string& socket, const std::string& listen) {
  // Here, because it says how to start a domain.
  if (const auto tree = connect_to_tree(socket); !tree) return fail_with(kFailure, sentence(tree.error()));
  return fail_with(kFailure, sentence(UiPage::become(domain_to_speak_to(socket), listen)));
}

}  // namespace

void add_ui(Program& program) {
  Command& command = program.add("ui", "Show a running domain in a browser, live");
  const auto socket = add_socket_option(command);
  auto listen = std::make_shared<std::string>("127.0.0.1:0");
  command.option("--listen", *listen, "Where the browser finds it; port 0 is any free one",
                 {.type = "ADDRESS:PORT", .shows_default = true});
  command.examples(
      "Example:\n"
      "  landtrace ui       prints an address to open in a browser; until Ctrl-C");
  command.runs([socket, listen] { return become_ui(*socket, *listen); });
}

}  // namespace landtrace::cli
