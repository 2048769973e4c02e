/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcie_alone: a PCIe function with a buffer behind it, for the tests of hca/host/pcie.h. It records
 * the completion times of requests.
 */
#ifndef TESTS_HCA_SUPPORT_PCIE_ALONE_H
#define TESTS_HCA_SUPPORT_PCIE_ALONE_H

#include <CUnit/CUnit.h>

#include "hca/host/pcie.h"
#include "hca/host/pcie_params.h"
#include "tests/hca/support/round_link.h"

enum { BUFFER_BYTES = 1 << 20, READS = 3200 };

static struct sim *sim;
static struct pcie *pcie;
static struct memory *memory;
static struct pcie_params params;
static uint8_t bytes[BUFFER_BYTES];

static inline void params_round(void)
{
	round_link(&params);
	params.credit_latency = 0;
}

static inline void begin(void)
{
	sim = sim_create(SIM_ENGINE_native, 1);
	pcie = pcie_create(sim, "pcie", &params);
	memory = memory_buffer_create(0, BUFFER_BYTES);
}

static inline void end(void)
{
	const struct pcie_counters *count = pcie_counters(pcie);

	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(count->reads, count->reads_done);
	CU_ASSERT_EQUAL(count->writes, count->writes_done);
	CU_ASSERT(count->tags_used_max <= params.tags);
	CU_ASSERT_EQUAL(count->posted_headers_taken, count->write_packets);
	CU_ASSERT_EQUAL(count->posted_headers_taken, count->posted_headers_returned);
	CU_ASSERT_EQUAL(count->posted_data_taken, count->posted_data_returned);
	CU_ASSERT_EQUAL(count->nonposted_headers_taken, count->read_requests);
	CU_ASSERT_EQUAL(count->nonposted_headers_taken, count->nonposted_headers_returned);
	memory_buffer_destroy(memory);
	pcie_destroy(pcie);
	sim_destroy(sim);
}

static sim_time read_at[READS], write_at[READS];
static int reads_done, writes_done;

static inline void note_read(struct pcie_read *read)
{
	(void)read;
	read_at[reads_done++] = sim_now(sim);
}

static inline void note_write(struct pcie_write *write)
{
	(void)write;
	write_at[writes_done++] = sim_now(sim);
}

static inline struct pcie_read read_of(uint64_t address, uint32_t length, void *into)
{
	return (struct pcie_read){.memory = memory,
				  .address = address,
				  .length = length,
				  .bytes = into,
				  .done = note_read};
}

static inline struct pcie_write write_of(uint64_t address, uint32_t length, const void *from)
{
	return (struct pcie_write){.memory = memory,
				   .address = address,
				   .length = length,
				   .bytes = from,
				   .done = note_write};
}

#endif
