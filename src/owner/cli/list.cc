// `landtrace list`
#include "cli/commands.hpp"
#include "cli/domain_choice.hpp"
#include "cli/failure.hpp"
#include "cli/text_output.hpp"
#include "consumer/domain_view.hpp"
#include "buffer/event_table.hpp"
#include "ipc/path.hpp"
#include "cli/recording_file.hpp"
#include "cli/pager.hpp"
#include "cli/near_names.hpp"
#include "cli/terminal.hpp"
#include "cli/usdt/objects.hpp"
#include "cli/usdt/rows.hpp"
#include "code/object_path.hpp"

namespace landtrace::cli {
namespace {

struct ListOptions {
  std::string file;
  std::string socket;
  std::string usdt;
  bool verbose = false;
  bool users = false;
  bool json = false;
};

// "SYSTEM:NAME  FIELDS", a note behind it, and the format below.
void append_event(std::string& out, const output::EventType& type, const char* note, bool verbose) {
  const std::string fields = event::fields_text(type.declaration);
  out += fmt::format("{}:{}{}{}{}\n", type.system, type.name, fields.empty() ? "" : "  ", fields, note);
  if (!verbose) return;
  out += type.format.empty() ? event::format_text(type.declaration, type.name, type.id) : type.format;
  out += '\n';
}

Result<void> list_file(const ListOptions& options, TextOutput& out) {
  const daemon::DescriptorLimit descriptors;
  LT_TRY(const output::TraceDatReader reader, open_recording(options.file));
  for (const auto& [id, type] : reader.events()) {
    if (type.system == "ftrace") continue;  // the kernel's own, in every file that trace-cmd writes
    append_event(out.text(), type, "", options.verbose);
    out.flush_if_full();
  }
  return {};
}

Result<void> list_domain(const ListOptions& options, TextOutput& out) {
  const std::string path = domain_to_speak_to(options.socket);
  auto view = consumer::DomainView::connect(path);
  if (!view) return unreached(std::move(view).error());
  const plan::ControlSegment& control = view->control();
  // Pairs with the release store in Events::take_slot().
  const std::uint32_t high = std::min(__atomic_load_n(&control.event_high, __ATOMIC_ACQUIRE), plan::kMaxEvents);
  bool is_empty = true;
  for (std::uint32_t slot = 0; slot < high; ++slot) {
    const plan::EventSlot& shared = control.events[slot];
    const auto text = buffer::copy_slot_text(control, slot);
    // Pairs with the publish() in Events::describe().
    if (!text || __atomic_load_n(&shared.registered, __ATOMIC_ACQUIRE) == 0) continue;
    const auto type = buffer::type_of(*text);
    if (!type) continue;
    const bool enabled = __atomic_load_n(&shared.plan, __ATOMIC_RELAXED) != 0;
    append_event(out.text(), *type, enabled ? "  [enabled]" : "", options.verbose);
    out.flush_if_full();
    is_empty = false;
  }
  if (is_empty) complain("no event is registered in the domain at " + path);
  return {};
}

Result<void> list_users(const ListOptions& options, TextOutput& out) {
  const auto owner = ipc::connect_to(options.socket.empty() ? ipc::default_socket() : options.socket);
  if (!owner) return unreached(owner.error());
  ipc::set_timeout(owner->get(), ipc::kAnswerPatience_ms);
  LT_TRY(const ipc::Answer answer, ipc::ask(owner->get(), {.operation = ipc::Operation::kUsers}));
  out.text() += answer.text;
  return {};
}

// Of a process, or of a file by its path or name.
Result<std::vector<std::string>> usdt_objects(const std::string& named) {
  const bool is_number = named.find_first_not_of("0123456789") == std::string::npos;
  if (is_number && named.size() < 10) return objects_of_process(static_cast<std::uint32_t>(std::stoul(named)));
  const auto path = code::object_path(named);
  if (!path) return fail(ENOENT, sentence(path.error()) + did_you_mean(named, code::object_names()));
  return std::vector{*path};
}

int list_usdt(const ListOptions& options) {
  const auto objects = usdt_objects(options.usdt);
  if (!objects) return fail_with(kFailure, sentence(objects.error()));
  survive_closed_output();
  TextOutput out;
  const Screen screen = Screen::of(STDOUT_FILENO);
  bool is_empty = true;
  for (const std::string& path : *objects) {
    const auto rows = usdt_rows(path);
    if (!rows && objects->size() == 1) return fail_with(kFailure, sentence(rows.error(), path));
    if (!rows || rows->empty()) continue;
    is_empty = false;
    if (!options.json) {
      if (objects->size() > 1) out.text() += path + ":\n";
      out.text() += usdt_head();
    }
    for (const UsdtRow& row : *rows) out.text() += options.json ? usdt_json(row) : usdt_line(row, screen.columns);
    if (!out.flush_if_full()) break;
  }
  if (is_empty) {
    complain(fmt::format("there are no USDT places in {}", objects->size() == 1 ? objects->front() : options.usdt));
  }
  out.flush();
  return out.status();
}

int list(const ListOptions& options) {
  if (!options.usdt.empty()) {
    if (!options.file.empty() || !options.socket.empty() || options.users) {
      return fail_with(kBadUse, "--usdt excludes FILE, --socket and --users");
    }
    return list_usdt(options);
  }
  if (options.json) return fail_with(kBadUse, "--json is for --usdt");
  if (!options.file.empty() && !options.socket.empty()) {
    return fail_with(kBadUse, "FILE and --socket exclude each other");
  }
  if (!options.file.empty() && options.users) return fail_with(kBadUse, "FILE and --users exclude each other");
  survive_closed_output();
  TextOutput out;
  const auto listed = options.users          ? list_users(options, out)
                      : options.file.empty() ? list_domain(options, out)
                                             : list_file(options, out);
  if (!listed) return fail_with(kFailure, sentence(listed.error(), options.file));
  out.flush();
  return out.status();
}

}  // namespace

void add_list(Program& program) {
  auto options = std::make_shared<ListOptions>();
  Command& command = program.add("list", "List the events of a running domain or of a recording");
  command.option("FILE", options->file, "Recording; without it, the user's running domain");
  command.option("--socket", options->socket, "Socket of the running domain", {.type = "PATH"});
  command.flag("-v,--verbose", options->verbose, "Print each event's format too");
  command.flag("--users", options->users, "List what each user has of the running domain instead");
  command.option("--usdt", options->usdt,
                 "List the USDT places of a program or library instead, or of all that a process has",
                 {.type = "PATH|NAME|PID"});
  command.flag("--json", options->json, "With --usdt, one JSON object a line");
  command.examples(
      "Examples:\n"
      "  landtrace list                                  events of the user's running domain\n"
      "  landtrace list -v trace.dat                     formats of the events in a recording\n"
      "  landtrace list --usdt python3                   what `record -e usdt:python3:NAME` can record");
  command.runs([options] { return list(*options); });
}

}  // namespace landtrace::cli
