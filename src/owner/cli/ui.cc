// `landtrace ui`: becomes landtrace-ui, the program that has the HTTP server in it.
#include <memory>

#include "cli/commands.hpp"
#include "cli/domain_choice.hpp"
#include "cli/failure.hpp"
#include "cli/fleet/helper.hpp"
#include "cli/tree_command.hpp"
#include "cli/ui_page.hpp"

namespace landtrace::cli {
namespace {

int become_ui(const std::string& socket, const std::string& listen) {
  // Here, because it says how to start a domain.
  if (const auto tree = connect_to_tree(socket); !tree) return fail_with(kFailure, sentence(tree.error()));
  return fail_with(kFailure, sentence(UiPage::become(domain_to_speak_to(socket), listen)));
}

// Somebody has to answer there now; later the page waits for servers that are away.
int become_fleet_ui(fleet::Address& address, const std::string& listen) {
  if (auto completed = complete(address); !completed) return fail_with(kBadUse, sentence(completed.error()));
  const auto fleet = FleetHelper::find(address);
  if (!fleet) return fail_with(kFailure, sentence(fleet.error()));
  if (const auto hosts = fleet->hosts(); !hosts) return fail_with(kFailure, sentence(hosts.error()));
  return fail_with(kFailure, sentence(UiPage::become_fleets(*fleet, listen)));
}

struct UiOptions {
  std::shared_ptr<std::string> socket;
  std::string listen = "127.0.0.1:0";
  bool is_fleet = false;
  fleet::Address address;
};

int run(UiOptions& options) {
  if (!options.is_fleet) return become_ui(*options.socket, options.listen);
  if (!options.socket->empty()) return fail_with(kBadUse, "--socket is of one domain, --fleet of many hosts");
  return become_fleet_ui(options.address, options.listen);
}

}  // namespace

void add_ui(Program& program) {
  Command& command = program.add("ui", "Show a running domain, or a fleet of hosts, in a browser, live");
  auto options = std::make_shared<UiOptions>();
  options->socket = add_socket_option(command);
  command.option("--listen", options->listen, "Where the browser finds it; port 0 is any free one",
                 {.type = "ADDRESS:PORT", .shows_default = true});
  command.option_or_flag("--fleet", options->is_fleet, options->address.servers,
                         "All hosts of a fleet in place of one domain: its servers of NATS, with commas",
                         {.type = "[nats://HOST:PORT]", .default_text = "$LANDTRACE_FLEET, else this machine's"});
  add_fleet_user(command, options->address);
  command.examples(
      "Examples:\n"
      "  landtrace ui       prints an address to open in a browser; until Ctrl-C\n"
      "  landtrace ui --fleet nats://control:4222       all hosts there");
  command.runs([options] { return run(*options); });
}

}  // namespace landtrace::cli
