#include "tracefs/context.hpp"

#include "tracefs/proxies.hpp"

namespace landtrace::tracefs {

Context::Context(domain::Domain& domain_in, rules::Rules& rules_in)
    : domain(domain_in),
      rules(rules_in),
      default_geometry_(domain_in.top().place.geometry),
      proxies_(std::make_shared<Proxies>(domain_in)) {}

Context::~Context() { proxies_->close(); }

domain::Proxy& Context::proxy() { return proxies_->mine(); }

InstancePtr Context::state_of(const domain::Instance& instance) {
  InstancePtr& state = states_[instance.serial];
  if (!state) state = std::make_shared<InstanceState>(*this, instance);
  return state;
}

}  // namespace landtrace::tracefs
