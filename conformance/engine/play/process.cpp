// SPDX-License-Identifier: BSD-3-Clause
#include "engine/play/process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <system_error>

#include "values/text.h"

extern char** environ;

namespace tdconf {
namespace {

[[noreturn]] void fail(int error, const std::string& what) {
  throw std::system_error(error, std::generic_category(), what);
}

FileDescriptor open_log(const std::string& path) {
  FileDescriptor log(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (log.get() < 0) fail(errno, path);
  return log;
}

std::vector<std::string> merged_environment(const std::map<std::string, std::string>& added) {
  std::vector<std::string> merged;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    if (!added.contains(text.substr(0, text.find('=')))) merged.push_back(text);
  }
  for (const auto& [name, value] : added) merged.push_back(concat(name, "=", value));
  return merged;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& text : strings) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// Runs between fork and exec, where only async-signal-safe calls are allowed.
[[noreturn]] void become(char** argv, char** environment, int log, pid_t parent, int report) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const bool parent_is_gone = getppid() != parent;
  // A core file of a process with a tensor library in it takes longer to write than a deadline.
  const rlimit no_core{0, RLIM_INFINITY};
  setrlimit(RLIMIT_CORE, &no_core);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  const int null = open("/dev/null", O_RDONLY);
  if (!parent_is_gone && null >= 0 && dup2(null, STDIN_FILENO) >= 0 &&
      dup2(log, STDOUT_FILENO) >= 0 && dup2(log, STDERR_FILENO) >= 0) {
    execvpe(argv[0], argv, environment);
  }
  const int error = errno;
  // Nobody can be told when this write fails.
  [[maybe_unused]] const ssize_t written = write(report, &error, sizeof(error));
  _exit(127);
}

}  // namespace

std::string describe(const ExitStatus& exit) {
  if (exit.signal) {
    const char* name = sigabbrev_np(*exit.signal);
    return name != nullptr ? concat("killed by SIG", name)
                           : concat("killed by signal ", *exit.signal);
  }
  if (exit.status) return concat("exited with status ", *exit.status);
  return "ended in an unknown way";
}

Process::Process(const SpawnOptions& options) {
  std::vector<std::string> arguments = options.argv;
  std::vector<std::string> variables = merged_environment(options.environment);
  std::vector<char*> argv = pointers(arguments);
  std::vector<char*> environment = pointers(variables);
  const FileDescriptor log = open_log(options.log_path);
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) fail(errno, "pipe");
  const FileDescriptor report_read(report[0]);
  FileDescriptor report_write(report[1]);
  const pid_t parent = getpid();

  pid_ = fork();
  if (pid_ < 0) fail(errno, "fork");
  if (pid_ == 0) {
    become(argv.data(), environment.data(), log.get(), parent, report_write.get());
  }
  report_write = FileDescriptor();
  int error = 0;
  if (read(report_read.get(), &error, sizeof(error)) == sizeof(error)) {
    waitpid(pid_, nullptr, 0);
    fail(error, options.argv.front());
  }
  pidfd_ = FileDescriptor(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  if (pidfd_.get() < 0) {
    const int reason = errno;
    kill_group();
    waitpid(pid_, nullptr, 0);
    fail(reason, "pidfd_open");
  }
}

Process::~Process() {
  if (reap()) return;
  kill_group();
  waitpid(pid_, nullptr, 0);
}

const std::optional<ExitStatus>& Process::reap() {
  if (exit_) return exit_;
  siginfo_t ended{};
  if (waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      ended.si_pid == 0) {
    return exit_;
  }
  // Until it is waited for, the child keeps the number of its group from being used again.
  kill_group();
  waitpid(pid_, nullptr, 0);
  const bool has_exited = ended.si_code == CLD_EXITED;
  exit_ = has_exited ? ExitStatus{ended.si_status, std::nullopt}
                     : ExitStatus{std::nullopt, ended.si_status};
  return exit_;
}

void Process::kill_group() const {
  ::kill(-pid_, SIGKILL);
}

std::string tail_of(const std::string& path, std::size_t max_bytes) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return "";
  const auto size = static_cast<std::size_t>(file.tellg());
  const std::size_t kept = std::min(size, max_bytes);
  file.seekg(static_cast<std::streamoff>(size - kept));
  std::string text(kept, '\0');
  file.read(text.data(), static_cast<std::streamsize>(kept));
  const std::size_t newline = kept < size ? text.find('\n') : std::string::npos;
  return newline == std::string::npos ? text : text.substr(newline + 1);
}

}  // namespace tdconf
