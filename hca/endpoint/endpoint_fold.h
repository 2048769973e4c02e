/* SPDX-License-Identifier: Apache-2.0 */
/* endpoint_fold: the state of an endpoint HCA as bytes that do not depend on the time
 * (sim/fold.h). */
#ifndef HCA_ENDPOINT_ENDPOINT_FOLD_H
#define HCA_ENDPOINT_ENDPOINT_FOLD_H

#include "sim/block.h"

/* The block type of endpoint HCAs has these functions. */
void endpoint_fold(struct block *block, struct fold *fold);

#endif
