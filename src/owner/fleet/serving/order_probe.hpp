// The probe of an order: it is defined in the domain, and goes with its connection, however that ends.
#pragma once

#include <memory>
#include <string>

#include "fleet/order.hpp"
#include "ipc/tree_client.hpp"

namespace landtrace::fleet {

class OrderProbe {
 public:
  // ENOENT where the host has no such object; else what the domain says of the definition.
  static Result<std::unique_ptr<OrderProbe>> define(const std::string& socket, const Order& order);
  // Takes it away. The session that listened must have gone.
  ~OrderProbe();
  OrderProbe(const OrderProbe&) = delete;
  OrderProbe& operator=(const OrderProbe&) = delete;

 private:
  OrderProbe(ipc::TreeClient tree, std::string removal) : tree_(std::move(tree)), removal_(std::move(removal)) {}
  Result<void> write(const std::string& line);

  ipc::TreeClient tree_;
  const std::string removal_;
};

}  // namespace landtrace::fleet
