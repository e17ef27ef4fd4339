#include "preload/children.hpp"

#include "client/process.hpp"
#include "preload/real.hpp"

// The agent's, where it is loaded: it has places of its own.
extern "C" {
__attribute__((visibility("default"))) constinit const landtrace::client::ChildListener* landtrace_child_listener =
    nullptr;
}

namespace landtrace::preload {
namespace {

// Pairs with the release store in agent_object/start.cc.
const client::ChildListener* listener() { return __atomic_load_n(&landtrace_child_listener, __ATOMIC_ACQUIRE); }

}  // namespace

void expect_child_for(std::uint32_t events) {
  client::Process::expect_child(events);
  if (const client::ChildListener* const agents = listener(); agents != nullptr) agents->expect(events);
}

void expect_no_child() {
  client::Process::child_is_gone();
  if (const client::ChildListener* const agents = listener(); agents != nullptr) agents->is_gone();
}

void set_time_source(arch::TimeSource source) {
  client::Process::set_time_source(source);
  if (const client::ChildListener* const agents = listener(); agents != nullptr) agents->set_time_source(source);
}

ChildExpected::ChildExpected() { expect_child_for(client::Process::kUntilGone); }
ChildExpected::~ChildExpected() { expect_no_child(); }

}  // namespace landtrace::preload
