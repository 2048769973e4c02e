/* SPDX-License-Identifier: Apache-2.0 */
/* port_carry: the state of a port that results read, from one process to another (sim/ranks.h). */
#ifndef FABRIC_PORT_CARRY_H
#define FABRIC_PORT_CARRY_H

#include "sim/block.h"

/* The block type of ports has these functions. */
void port_carry(struct block *block, struct carry *carry);

#endif
