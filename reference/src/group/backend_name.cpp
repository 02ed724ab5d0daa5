// SPDX-License-Identifier: BSD-3-Clause
#include "group/backend_name.h"

#include <c10/util/Exception.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <cctype>
#include <sstream>

namespace tdref {

BackendName parse_backend_name(const std::string& text) {
  std::string name = text;
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  if (name == "gloo" || name == "undefined") {
    return {name, "cpu/"};
  }
  std::string first_device;
  bool serves_cpu = false;
  std::istringstream pairs(name);
  for (std::string pair; std::getline(pairs, pair, ',');) {
    const auto colon = pair.find(':');
    const bool known = colon != std::string::npos && pair.substr(colon + 1) == "gloo";
    TORCH_CHECK_VALUE(known,
                      "unknown backend '",
                      text,
                      "'; allowed are 'gloo', 'undefined' and lists like 'cpu:gloo,cuda:gloo'");
    const auto device = pair.substr(0, colon);
    first_device = first_device.empty() ? device : first_device;
    serves_cpu = serves_cpu || device == "cpu";
  }
  TORCH_CHECK_VALUE(serves_cpu, "the backend '", text, "' does not serve the CPU");
  return {name, first_device + "/"};
}

}  // namespace tdref
