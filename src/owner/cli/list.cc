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

namespace landtrace::cli {
namespace {

struct ListOptions {
  std::string file;
  std::string socket;
  bool verbose = false;
  bool users = false;
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

int list(const ListOptions& options) {
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
  command.examples(
      "Examples:\n"
      "  landtrace list                                  events of the user's running domain\n"
      "  landtrace list -v trace.dat                     formats of the events in a recording");
  command.runs([options] { return list(*options); });
}

}  // namespace landtrace::cli
