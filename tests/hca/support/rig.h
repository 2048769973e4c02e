/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rig: a connected pair of queue pairs on a pair of hosts, as most tests begin.
 */
#ifndef TESTS_HCA_SUPPORT_RIG_H
#define TESTS_HCA_SUPPORT_RIG_H

#include "tests/hca/support/mini_driver.h"

struct rig {
	struct mini *mini;
	struct mini_host *one, *other;
	struct mini_qp *qp, *peer; /* on one, on other */
	uint64_t source, target;   /* 1 MiB each, on one, on other */
	struct fault *fault;       /* faults of packets from `one`; rig_fault() */
	struct fault *fault_back;  /* faults of packets from `other` */
};

struct rig rig_create(enum qp_type type, uint32_t mtu);
struct rig rig_create_with(enum sim_engine engine, enum qp_type type, enum link_layer link_layer,
			   uint32_t mtu);
/* Creates the rig on two hosts whose parameters are set and that have not started. */
struct rig rig_create_on(struct mini *mini, enum qp_type type, enum link_layer link_layer,
			 uint32_t mtu);
void rig_destroy(struct rig *rig);

/* Drops the nth packet of that opcode; with nth 0, drops with that probability. back: for packets
 * from `other`. */
void rig_drop(struct rig *rig, bool back, uint16_t opcode, uint64_t nth, double probability);

/* Posts a work request from source to target. */
void rig_post(struct rig *rig, uint8_t opcode, uint32_t length);

/* Returns the time of a PCIe read of `bytes` by an idle adapter. */
sim_time rig_read_time(struct mini_host *host, uint32_t bytes);

uint32_t rig_count(const struct rig *rig, const char *block, const char *counter); /* of one */
uint32_t rig_count_other(const struct rig *rig, const char *block, const char *counter);

#define CHECK_WC(wc, expected_opcode, expected_syndrome)              \
	do {                                                          \
		struct mini_wc checked = (wc);                        \
		CU_ASSERT_EQUAL(checked.opcode, expected_opcode);     \
		CU_ASSERT_EQUAL(checked.syndrome, expected_syndrome); \
	} while (0)

#endif
