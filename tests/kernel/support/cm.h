/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cm: common part of the tests of the connection manager: commands as librdmacm writes them, and
 * events at their exact times.
 */
#ifndef TESTS_KERNEL_SUPPORT_CM_H
#define TESTS_KERNEL_SUPPORT_CM_H

#include "tests/kernel/support/machine.h"
#include "verbs-shim/kernel/cm.h"

#define PORT 7174

int32_t open_cm(struct machine *machine);
int64_t cm_command(struct machine *machine, int32_t file, uint32_t number, const void *in,
		   uint32_t in_bytes, uint32_t out_bytes);

#define CM(machine, file, name, in, out_bytes) \
	cm_command(machine, file, RDMA_USER_CM_CMD_##name, &(in), sizeof(in), out_bytes)

void response_of(struct machine *machine, void *bytes, uint32_t length);
uint32_t create_id_of(struct machine *machine, int32_t file, uint64_t uid, uint16_t space,
		      uint8_t qp_type);
int64_t next_event(struct machine *machine, int32_t file, struct rdma_ucm_event_resp *event);
/* Checks that the next event is this event, and comes exactly that much later. */
struct rdma_ucm_event_resp expect(struct machine *machine, int32_t file, sim_time delay,
				  enum cm_event_type what, uint64_t uid, int32_t status);
int64_t bind_to(struct machine *machine, int32_t file, uint32_t id, uint32_t address);
int64_t resolve(struct machine *machine, int32_t file, uint32_t id, uint32_t address);

#endif
