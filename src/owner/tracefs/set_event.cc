#include "tracefs/set_event.hpp"

#include "language/words.hpp"
#include "tracefs/context.hpp"
#include "tracefs/events/selection.hpp"

namespace landtrace::tracefs {

Result<std::string> SetEvent::text() {
  LT_TRY(const domain::Instance* const instance, instance_->get());
  std::string text;
  for (const domain::Event* const event : instance_->events()) {
    if (!event->listeners[instance->index]) continue;
    text.append(event->system).append(1, ':').append(event->name).append(1, '\n');
  }
  return text;
}

Result<std::size_t> SetEvent::store_in_turns(const Caller&, std::string_view bytes, Rest& rest) {
  LT_TRY(const language::Word word, language::next_word(bytes));
  if (word.text.empty()) return word.taken;
  const bool on = !word.text.starts_with('!');
  const Selection selection = Selection::parse(on ? word.text : word.text.substr(1));
  LT_TRY(const bool done, listen_in_turns(instance_, selection, on, word.text, rest));
  return done ? word.taken : 0;
}

Result<void> SetEvent::truncate(const Caller&) { return listen_to(*instance_, {}, false); }

}  // namespace landtrace::tracefs
