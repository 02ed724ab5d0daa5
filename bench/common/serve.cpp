// SPDX-License-Identifier: BSD-3-Clause
#include "common/serve.h"

#include <c10/util/Exception.h>
#include <torch/headeronly/version.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/control.h"
#include "common/counting.h"
#include "common/injection.h"
#include "common/request.h"
#include "common/timing.h"
#include "counting/counting.h"

namespace tdconf::bench {
namespace {

using nlohmann::json;

void write(const json& line) {
  std::cout << line.dump(-1, ' ', false, json::error_handler_t::replace) << std::endl;
}

class Server {
 public:
  Server(const Program& program, const CommandLine& line)
      : line_(line), control_(line.store, line.rank, line.world) {
    tdconf_counting_ignore_open_sockets();
    column_ = program.open(line);
  }

  json answer(const std::string& text) {
    const Request request = read_request(text);
    auto operation = make(request.subject);
    const auto name = name_of(request.subject, line_.world);
    operation->refill();
    operation->run();
    auto result = request.count
                      ? count(name, *operation, control_)
                      : time(name, *operation, control_, request.iterations, request.batch);
    operation->refill();
    operation->run();
    operation->check();
    return result;
  }

 private:
  std::unique_ptr<Operation> make(const Case& c) {
    auto operation = column_->make(c);
    const auto injected = line_.inject.find(c.operation);
    return injected == line_.inject.end()
               ? std::move(operation)
               : std::make_unique<Injected>(std::move(operation), injected->second);
  }

  const CommandLine& line_;
  Control control_;
  std::unique_ptr<Column> column_;
};

void answer_all(const Program& program, const CommandLine& line) {
  Server server(program, line);
  write({{"ready", true},
         {"column", program.column},
         {"pid", getpid()},
         {"versions", {{"tdconf", TDCONF_VERSION}, {"torch", TORCH_VERSION}}}});
  std::string request;
  while (std::getline(std::cin, request)) {
    write(server.answer(request));
  }
}

}  // namespace

void serve(const Program& program, int argc, char** argv) {
  const auto line = parse_command_line(
      argc,
      argv,
      "Times the operations of the column " + program.column + " as one rank; see bench/README.md.",
      program.has_agreement);
  // gloo would otherwise resolve the host's own name, which need not have a usable address.
  setenv("GLOO_SOCKET_IFNAME", "lo", /*overwrite=*/1);
  int status = EXIT_SUCCESS;
  try {
    answer_all(program, line);
  } catch (const c10::Error& error) {
    write({{"error", error.what_without_backtrace()}});
    status = EXIT_FAILURE;
  } catch (const std::exception& error) {
    write({{"error", error.what()}});
    status = EXIT_FAILURE;
  }
  // Static objects of libtorch take a while to go, and nobody waits for what they hold.
  _exit(status);
}

}  // namespace tdconf::bench
