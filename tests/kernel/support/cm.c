/* SPDX-License-Identifier: Apache-2.0 */
/* cm: see cm.h. */
#include "tests/kernel/support/cm.h"

#include <CUnit/CUnit.h>
#include <errno.h>

int32_t open_cm(struct machine *machine)
{
	machine->call = (struct kernel_call){.process = &machine->process};
	kernel_open(machine->kernel, &machine->call, CM_NODE, 2);
	CU_ASSERT_EQUAL_FATAL(machine->call.file_count, 1);
	CU_ASSERT_EQUAL(machine->call.files[0].kind, KERNEL_FD_MESSAGE);
	for (int32_t i = 1; i < FILES_MAX; i++)
		if (!machine->files[i]) {
			machine->files[i] = machine->call.files[0].file;
			machine->kinds[i] = KERNEL_FD_MESSAGE;
			return i;
		}
	return -1;
}

int64_t cm_command(struct machine *machine, int32_t file, uint32_t number, const void *in,
		   uint32_t in_bytes, uint32_t out_bytes)
{
	struct rdma_ucm_cmd_hdr header = {number, (uint16_t)in_bytes, (uint16_t)out_bytes};
	uint32_t length = (uint32_t)sizeof(header) + in_bytes;

	memory_write(machine->process.memory, CALL_AREA, &header, sizeof(header));
	memory_write(machine->process.memory, CALL_AREA + sizeof(header), in, in_bytes);
	machine->call = (struct kernel_call){.process = &machine->process};
	kernel_write(machine->files[file], &machine->call, CALL_AREA, length);
	return machine->call.result == length ? 0 : machine->call.result;
}

void response_of(struct machine *machine, void *bytes, uint32_t length)
{
	memory_read(machine->process.memory, RESPONSE_AREA, bytes, length);
}

uint32_t create_id_of(struct machine *machine, int32_t file, uint64_t uid, uint16_t space,
		      uint8_t qp_type)
{
	struct rdma_ucm_create_id in = {
		.uid = uid, .response = RESPONSE_AREA, .ps = space, .qp_type = qp_type};
	struct rdma_ucm_create_id_resp response;

	CU_ASSERT_EQUAL_FATAL(CM(machine, file, CREATE_ID, in, sizeof(response)), 0);
	response_of(machine, &response, sizeof(response));
	return response.id;
}

int64_t next_event(struct machine *machine, int32_t file, struct rdma_ucm_event_resp *event)
{
	struct rdma_ucm_get_event in = {.response = RESPONSE_AREA};
	int64_t result = CM(machine, file, GET_EVENT, in, sizeof(*event));

	if (!result)
		response_of(machine, event, sizeof(*event));
	return result;
}

struct rdma_ucm_event_resp expect(struct machine *machine, int32_t file, sim_time delay,
				  enum cm_event_type what, uint64_t uid, int32_t status)
{
	struct rdma_ucm_event_resp event = {0};
	sim_time at = sim_now(machine->sim) + delay;

	sim_run(machine->sim, at);
	CU_ASSERT_EQUAL(next_event(machine, file, &event), -EAGAIN);
	CU_ASSERT_EQUAL(machine->pipes[file].length, 0);
	sim_run(machine->sim, at + 1);
	CU_ASSERT_EQUAL(machine->pipes[file].length, 1); /* poll() reports it */
	CU_ASSERT_EQUAL(next_event(machine, file, &event), 0);
	CU_ASSERT_EQUAL(event.event, what);
	CU_ASSERT_EQUAL(event.uid, uid);
	CU_ASSERT_EQUAL((int32_t)event.status, status);
	CU_ASSERT_EQUAL(machine->pipes[file].length, 0);
	return event;
}

int64_t bind_to(struct machine *machine, int32_t file, uint32_t id, uint32_t address)
{
	struct rdma_ucm_bind_ip in = {.id = id};
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr.s_addr = htonl(address)};

	memcpy(&in.addr, &to, sizeof(to));
	return CM(machine, file, BIND_IP, in, 0);
}

int64_t resolve(struct machine *machine, int32_t file, uint32_t id, uint32_t address)
{
	struct rdma_ucm_resolve_ip in = {.id = id, .timeout_ms = 2000};
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr.s_addr = htonl(address)};

	memcpy(&in.dst_addr, &to, sizeof(to));
	return CM(machine, file, RESOLVE_IP, in, 0);
}
