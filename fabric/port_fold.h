/* SPDX-License-Identifier: Apache-2.0 */
/* port_fold: the state of a port as bytes that do not depend on the time (sim/fold.h). */
#ifndef FABRIC_PORT_FOLD_H
#define FABRIC_PORT_FOLD_H

#include "sim/block.h"

/* The block type of ports has these functions. */
void port_fold(struct block *block, struct fold *fold);

#endif
