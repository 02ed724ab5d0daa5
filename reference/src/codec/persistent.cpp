// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/persistent.h>
#include <tdref/tensordict.h>

#include "codec/hdf5.h"

namespace tdref {

PersistentTensorDict::PersistentTensorDict(Place place, Shape batch_size)
    : TensorDictBase(std::move(batch_size), std::nullopt),
      place_(std::move(place)),
      contents_(std::make_shared<TensorDict>(
          read_hdf5(place_.filename, place_.group, this->batch_size()))) {}

PersistentTensorDict::PersistentTensorDict(Place place,
                                           Shape batch_size,
                                           const TensorDict& contents)
    : TensorDictBase(std::move(batch_size), std::nullopt),
      place_(std::move(place)),
      contents_(std::make_shared<TensorDict>(contents)) {}

PersistentTensorDict PersistentTensorDict::from_dict(const TensorDictBase& td,
                                                     const std::string& filename) {
  write_hdf5(filename, td);
  return PersistentTensorDict({.filename = filename}, td.batch_size());
}

PersistentTensorDict to_h5(const TensorDictBase& td, const std::string& filename) {
  return PersistentTensorDict::from_dict(td, filename);
}

PersistentTensorDict from_h5(const std::string& filename) {
  const PersistentTensorDict::Place place{.filename = filename};
  const auto contents = read_hdf5(place.filename, place.group, std::nullopt);
  return {place, contents.batch_size(), contents};
}

}  // namespace tdref
