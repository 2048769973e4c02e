/* SPDX-License-Identifier: Apache-2.0 */
/* endpoint_carry: what has arrived at the queue pairs of an endpoint HCA, from one process to
 * another (sim/ranks.h). endpoint_arrived_bytes() reads it at the peer. */
#ifndef HCA_ENDPOINT_ENDPOINT_CARRY_H
#define HCA_ENDPOINT_ENDPOINT_CARRY_H

#include "sim/block.h"

/* The block type of endpoint HCAs has these functions. */
void endpoint_carry(struct block *block, struct carry *carry);

#endif
