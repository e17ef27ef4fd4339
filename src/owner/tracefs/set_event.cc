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

Result<std::size_t> SetEvent::store(const Caller&, std::string_view bytes) {
  LT_TRY(language::Word word, language::next_word(bytes));
  if (word.text.empty()) return word.taken;
  const bool on = !word.text.starts_with('!');
  if (!on) word.text.remove_prefix(1);
  LT_CHECK(listen_to(*instance_, Selection::parse(word.text), on));
  return word.taken;
}

Result<void> SetEvent::truncate(const Caller&) { return listen_to(*instance_, {}, false); }

}  // namespace landtrace::tracefs
