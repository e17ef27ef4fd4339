// What an agent asks of the domain that it stands for.
#pragma once

#include "fleet/address.hpp"
#include "fleet/serving/work.hpp"
#include "metrics/figures.hpp"

namespace landtrace::fleet {

class AgentDomain {
 public:
  AgentDomain() = default;
  virtual ~AgentDomain() = default;
  AgentDomain(const AgentDomain&) = delete;
  AgentDomain& operator=(const AgentDomain&) = delete;

  // EINVAL with a sentence for what the domain does not take.
  virtual Result<std::unique_ptr<Work>> begin(const AgentOptions& options, const Order& order) = 0;
  // How many events and programs there are, and what rings have.
  virtual Result<metrics::Figures> figures() = 0;
  // That its own users have set up, of these events.
  virtual Result<std::vector<metrics::HistogramFigures>> histograms(const metrics::Asker::Wants& wants,
                                                                    std::size_t most) = 0;
};

// The one at a socket.
class SocketDomain : public AgentDomain {
 public:
  // ENOENT or ECONNREFUSED where none runs.
  static Result<std::unique_ptr<SocketDomain>> connect(const std::string& socket) {
    LT_TRY(metrics::Asker asker, metrics::Asker::connect(socket));
    return std::unique_ptr<SocketDomain>(new SocketDomain(std::move(asker)));
  }

  Result<std::unique_ptr<Work>> begin(const AgentOptions& options, const Order& order) override;
  Result<metrics::Figures> figures() override { return asker_.ask_rings(); }
  Result<std::vector<metrics::HistogramFigures>> histograms(const metrics::Asker::Wants& wants,
                                                            std::size_t most) override {
    return asker_.histograms(wants, most);
  }

 private:
  explicit SocketDomain(metrics::Asker asker) : asker_(std::move(asker)) {}

  metrics::Asker asker_;
};

}  // namespace landtrace::fleet
