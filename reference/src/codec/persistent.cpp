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

PersistentTensorDict PersistentTensorDict::from_dict(const TensorDict& td,
                                                     const std::string& filename) {
  write_hdf5(filename, td);
  return PersistentTensorDict({.filename = filename}, td.batch_size());
}

}  // namespace tdref
