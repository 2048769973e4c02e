/* SPDX-License-Identifier: Apache-2.0 */
/* switch_fold: the state of a switch as bytes that do not depend on the time (sim/fold.h). */
#ifndef SWITCH_SWITCH_FOLD_H
#define SWITCH_SWITCH_FOLD_H

#include "sim/block.h"

/* For the block type of switches. */
void switch_fold(struct block *block, struct fold *fold);

#endif
