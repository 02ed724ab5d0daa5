// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace tdconf::adapter {

struct CommandLine {
  std::string host;
  std::string port;
  std::int64_t rank = 0;
  std::string token;
};

/// Reads `--connect HOST:PORT --rank K` and the secret in TDCONF_TOKEN.
///
/// Order   without `--rank` the first that is set of RANK, OMPI_COMM_WORLD_RANK, PMI_RANK and
///         SLURM_PROCID.
/// Errors  writes one message to stderr and exits with status 2; `--help` exits with 0.
CommandLine parse_command_line(int argc, char** argv, const std::string& description);

}  // namespace tdconf::adapter
