// SPDX-License-Identifier: BSD-3-Clause
#include "engine/play/debugger.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <system_error>

#include "engine/play/poll.h"
#include "values/text.h"

namespace tdconf {
namespace {

namespace fs = std::filesystem;

/// A debugger that looks at one rank.
struct Look {
  std::size_t rank = 0;
  std::string tool;
  std::string output;
  std::unique_ptr<Process> process;
};

/// The folder of the program that a process was started as, which for a virtual environment is not
/// the folder of the program that runs.
fs::path folder_of_program(std::int64_t pid) {
  std::ifstream file(concat("/proc/", pid, "/cmdline"));
  std::string program;
  std::getline(file, program, '\0');
  return fs::path(program).parent_path();
}

/// Whether a signal has stopped a process.
bool is_stopped(std::int64_t pid) {
  std::ifstream file(concat("/proc/", pid, "/stat"));
  std::string stat;
  std::getline(file, stat);
  // The state follows the name, which is in parentheses and may hold any character.
  const std::size_t name_end = stat.rfind(')');
  return name_end != std::string::npos && stat.substr(name_end).starts_with(") T");
}

/// py-spy stops a process while it reads it, and fails at one that is stopped already.
std::vector<std::string> py_spy_command(std::int64_t pid) {
  const fs::path beside = folder_of_program(pid) / "py-spy";
  std::error_code unreadable;
  const std::string program = fs::exists(beside, unreadable) ? beside.string() : "py-spy";
  std::vector<std::string> command{program, "dump", "--pid", std::to_string(pid)};
  if (is_stopped(pid)) command.emplace_back("--nonblocking");
  return command;
}

std::vector<std::string> gdb_command(std::int64_t pid) {
  return {"gdb",
          "-nx",
          "-batch",
          "-iex",
          "set debuginfod enabled off",
          "-p",
          std::to_string(pid),
          "-ex",
          "thread apply all bt"};
}

/// The language may come with its version.
bool is_in_python(const Adapter& adapter) {
  return adapter.hello()->language.starts_with("Python");
}

/// gdb takes long to read the symbols of libtorch, and then sees no more than what a native adapter
/// tells of itself.
bool is_worth_a_look(Adapter& adapter, const Record& record) {
  if (adapter.failure()) return false;
  const auto& told = record.ranks[static_cast<std::size_t>(adapter.player().rank)].stacks;
  return is_in_python(adapter) || !told || told->empty();
}

std::unique_ptr<Look> start_look(Adapter& adapter, const std::string& folder) {
  auto look = std::make_unique<Look>();
  const std::int64_t pid = adapter.hello()->pid;
  const bool is_python = is_in_python(adapter);
  look->rank = static_cast<std::size_t>(adapter.player().rank);
  look->tool = is_python ? "py-spy" : "gdb";
  look->output = concat(folder, "/stacks-rank", look->rank, ".log");
  std::error_code not_there;
  fs::remove(look->output, not_there);
  try {
    look->process = std::make_unique<Process>(
        SpawnOptions{is_python ? py_spy_command(pid) : gdb_command(pid), {}, look->output});
  } catch (const std::system_error&) {
    return nullptr;
  }
  return look;
}

void await(const std::vector<std::unique_ptr<Look>>& looks, std::chrono::milliseconds limit) {
  const Clock::time_point end = Clock::now() + limit;
  while (true) {
    std::vector<pollfd> running;
    for (const auto& look : looks) {
      if (!look->process->reap()) running.push_back({look->process->pidfd(), POLLIN, 0});
    }
    if (running.empty() || Clock::now() >= end) return;
    poll_until(running, end);
  }
}

/// What gdb says while it reads symbols is no stack.
bool is_part_of_a_stack(const std::string& tool, const std::string& line) {
  return tool != "gdb" || line.starts_with("Thread ") || line.starts_with("#");
}

std::string read_stacks(const Look& look) {
  std::ifstream file(look.output);
  std::ostringstream stacks;
  for (std::string line; std::getline(file, line);) {
    if (is_part_of_a_stack(look.tool, line)) stacks << line << '\n';
  }
  return stacks.str();
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  while (line.empty() && std::getline(file, line)) continue;
  return line;
}

std::string report(Look& look, std::chrono::milliseconds limit) {
  const std::optional<ExitStatus> exit = look.process->reap();
  if (!exit) {
    return concat(look.tool,
                  ": no answer within ",
                  limit.count(),
                  " ms; reading the symbols of large libraries can take longer\n");
  }
  const std::string stacks = read_stacks(look);
  if (exit == ExitStatus{0, std::nullopt} && !stacks.empty()) {
    return concat(look.tool, ":\n", stacks);
  }
  return concat(look.tool, ": ", describe(*exit), ": ", first_line(look.output), "\n");
}

}  // namespace

void add_debugger_stacks(const std::vector<Adapter*>& adapters,
                         const DebuggerOptions& options,
                         Record& record) {
  std::vector<std::unique_ptr<Look>> looks;
  for (Adapter* adapter : adapters) {
    if (!is_worth_a_look(*adapter, record)) continue;
    if (auto look = start_look(*adapter, options.folder)) looks.push_back(std::move(look));
  }
  await(looks, options.limit);
  for (const auto& look : looks) {
    std::optional<std::string>& stacks = record.ranks[look->rank].stacks;
    if (!stacks) stacks = "";
    if (!stacks->empty() && !stacks->ends_with('\n')) *stacks += '\n';
    *stacks += report(*look, options.limit);
    look->process.reset();
    std::error_code not_there;
    fs::remove(look->output, not_there);
  }
}

}  // namespace tdconf
