// A span in a span, another one below a remote one, and what is no header. Prints the headers. With an argument: a span
// whose texts are each too long for an event.
#include <landtrace/bridges/spans.hpp>

#include <cstdlib>

using landtrace::bridges::Span;
using landtrace::bridges::SpanContext;

namespace {

void require(bool is_true) {
  if (!is_true) std::abort();
}

}  // namespace

int main(int argc, char** /*argv*/) {
  if (argc > 1) {
    const std::string text(100000, 'x');
    Span span(text);
    span.attribute(text, text);
    span.event(text);
    span.set_status(Span::Status::kOk, text);
    return 0;
  }
  for (const char* const text : {"", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
                                 "00-4bf92f3577b34da6a3ce929d0e0e473x-00f067aa0ba902b7-01",
                                 "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                                 "00-00000000000000000000000000000000-00f067aa0ba902b7-01"}) {
    require(!SpanContext::parse(text).is_valid());
  }
  {
    Span outer("outer");
    outer.attribute("rows", "42");
    Span inner("inner");
    inner.event("cache miss");
    inner.set_status(Span::Status::kError, "no file");
    require(Span::current().span == inner.context().span);
    std::puts(inner.context().traceparent().c_str());
  }
  require(!Span::current().is_valid());
  const Span served("serve", SpanContext::parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"));
  std::puts(served.context().traceparent().c_str());
}
