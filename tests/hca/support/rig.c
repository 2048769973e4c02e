/* SPDX-License-Identifier: Apache-2.0 */
/* rig: see rig.h. */
#include "tests/hca/support/rig.h"

#include <CUnit/CUnit.h>

#define AREA (UINT64_C(1) << 20)

struct rig rig_create_on(struct mini *mini, enum qp_type type, enum link_layer link_layer,
			 uint32_t mtu)
{
	struct rig rig = {.mini = mini};

	mini_start(rig.mini, link_layer);
	rig.one = &rig.mini->hosts[0];
	rig.other = &rig.mini->hosts[1];
	rig.fault = fault_create(rig.mini->sim, "host0.hca.port.fault");
	rig.fault_back = fault_create(rig.mini->sim, "host1.hca.port.fault");
	port_set_transmit_fault(hca_port(rig.one->adapter), rig.fault);
	port_set_transmit_fault(hca_port(rig.other->adapter), rig.fault_back);
	rig.qp = mini_qp_create(rig.one, type);
	rig.peer = mini_qp_create(rig.other, type);
	rig.source = mini_alloc(rig.one, AREA);
	rig.target = mini_alloc(rig.other, AREA);
	mini_connect(rig.qp, rig.peer, mtu);
	return rig;
}

struct rig rig_create_with(enum sim_engine engine, enum qp_type type, enum link_layer link_layer,
			   uint32_t mtu)
{
	return rig_create_on(mini_create(engine), type, link_layer, mtu);
}

struct rig rig_create(enum qp_type type, uint32_t mtu)
{
	return rig_create_with(SIM_ENGINE_native, type, LINK_INFINIBAND, mtu);
}

void rig_destroy(struct rig *rig)
{
	mini_run(rig->mini);
	mini_qp_destroy(rig->qp);
	mini_qp_destroy(rig->peer);
	mini_run(rig->mini);
	port_set_transmit_fault(hca_port(rig->one->adapter), NULL);
	port_set_transmit_fault(hca_port(rig->other->adapter), NULL);
	fault_destroy(rig->fault);
	fault_destroy(rig->fault_back);
	mini_destroy(rig->mini);
}

void rig_drop(struct rig *rig, bool back, uint16_t opcode, uint64_t nth, double probability)
{
	fault_add(back ? rig->fault_back : rig->fault,
		  &(struct fault_rule){.action = FAULT_drop,
				       .kind = PACKET_DATA,
				       .opcode = opcode,
				       .nth = nth,
				       .probability = probability});
}

void rig_post(struct rig *rig, uint8_t opcode, uint32_t length)
{
	mini_post(rig->qp, &(struct mini_send){.opcode = opcode,
					       .address = rig->source,
					       .length = length,
					       .remote = rig->target});
}

uint32_t rig_count(const struct rig *rig, const char *block, const char *counter)
{
	return mini_block_count(rig->one, block, counter);
}

uint32_t rig_count_other(const struct rig *rig, const char *block, const char *counter)
{
	return mini_block_count(rig->other, block, counter);
}

static struct sim *reading;
static sim_time read_ended_at;

static void note_end(struct pcie_read *read)
{
	(void)read;
	read_ended_at = sim_now(reading);
}

sim_time rig_read_time(struct mini_host *host, uint32_t bytes)
{
	struct pcie_read read = {
		.memory = memory_none(), .address = 0, .length = bytes, .done = note_end};
	sim_time start;

	mini_run(host->mini);
	reading = host->mini->sim;
	start = sim_now(reading);
	pcie_read(host->adapter->pcie, &read);
	mini_run(host->mini);
	return read_ended_at - start;
}
