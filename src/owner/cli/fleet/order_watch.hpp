// Gives an order, shows what comes of it, and ends it.
#pragma once

#include <functional>

#include "cli/child.hpp"
#include "cli/fleet/fleet_text.hpp"
#include "cli/fleet/helper.hpp"
#include "cli/fleet/order_request.hpp"
#include "cli/signals.hpp"

namespace landtrace::cli {

class OrderWatch {
 public:
  OrderWatch(const FleetHelper& fleet, const FleetOptions& options, fleet::Order order)
      : fleet_(fleet), options_(options), order_(std::move(order)) {}

  // Gives it, and says what hosts made of it; it goes on by itself. Returns the exit status.
  int give();
  // Gives it, and shows what is counted until its end, or ^C. Returns the exit status.
  int watch();
  // Gives it, and prints lines until its end, or ^C. Returns the exit status.
  int tail();

 private:
  Result<Reports> reports() const;
  Result<Reports> wait_for(const std::function<bool(const Reports&)>& is_done) const;
  // Until all hosts that are here have said what they made of it, or it takes too long.
  Result<Reports> wait_for_reports() const;
  Result<Reports> wait_for_ends() const;
  Result<void> show(bool is_last) const;
  Result<void> watch_until_end(Signals& signals);
  Result<Child> start_lines(const Signals& signals) const;
  Result<Reports> wait_for_end(Signals& signals, Child& lines) const;
  static void end_lines(Signals& signals, Child& lines);
  int complain_of(const Reports& reports) const;
  // The same of its end: an event that was nowhere, or that all hosts refused, is not one that did not happen.
  int complain_of_end(const Reports& reports) const;

  const FleetHelper& fleet_;
  const FleetOptions& options_;
  fleet::Order order_;
};

}  // namespace landtrace::cli
