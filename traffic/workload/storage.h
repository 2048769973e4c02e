/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage: operations of pattern storage as flows that wait for one another. An initiator has
 * queue_depth operations in progress. The end of one operation starts the next.
 *
 *     initiator's cores --command--> target's cores --> device --> target's cores
 *          ^                                                            |
 *          `--next operation-- initiator's cores <------response--------'
 *
 * Cores and devices are servers with queues (servers.h). A step of a host is a visit of its cores.
 * It takes the time for the messages that arrived since the last step, and for the messages that
 * the step sends. storage_protocol.c has the steps of each protocol.
 */
#ifndef TRAFFIC_WORKLOAD_STORAGE_H
#define TRAFFIC_WORKLOAD_STORAGE_H

#include "traffic/workload/workload.h"

/* Hosts are numbers of the workload's hosts. */
struct storage {
	const struct storage_params *params;
	const struct storage_device_params *device;
	const struct storage_cpu_params *cpu;
	const uint32_t *initiators, *targets; /* count 0: see storage_add() */
	uint32_t initiator_count, target_count;
	bool tcp; /* the hosts send with TCP */
};

enum storage_side { STORAGE_INITIATOR, STORAGE_TARGET, STORAGE_SIDES };

/* An operation while its flows are made. */
struct storage_operation {
	struct workload *workload;
	const struct storage *storage;
	uint32_t hosts[STORAGE_SIDES];
	uint32_t cores[STORAGE_SIDES], device; /* servers */
	uint32_t queue_pair, depth;
	bool write;
	uint64_t bytes;
	uint32_t stage[STORAGE_SIDES]; /* last visit of the side; UINT32_MAX: none */
	/* flows that the next step of the side waits for, and time of its cores that they take */
	uint32_t first_arrival[STORAGE_SIDES], arrival_end[STORAGE_SIDES];
	sim_time owed[STORAGE_SIDES];
};

/* Begins a step of a side. The step waits for all messages and READ data that came to the side
 * before. Its cores take `work`, and the time for each of these messages. */
void storage_step(struct storage_operation *operation, enum storage_side side, sim_time work);

/* Adds a message at the end of the last step of the side. The cores of the side take the time to
 * send the message. A READ brings data to the side. */
void storage_post(struct storage_operation *operation, enum storage_side side,
		  enum workload_operation verb, uint64_t bytes);

/* Adds a visit of the target's device after the target's last step. The device reads or writes the
 * operation's data. */
void storage_visit_device(struct storage_operation *operation);

/* Adds the steps of the operation. The first and the last step are steps of the initiator. */
void storage_protocol_run(struct storage_operation *operation);

/* Returns false if the protocol has no form for the transport, or its sizes do not fit. Writes the
 * reason to `error`. */
bool storage_protocol_check(const struct storage *storage, char *error, size_t error_bytes);

/* Adds all operations. If `storage` names neither initiators nor targets, the target is `target`,
 * the host that workload_params names. A side without hosts gets all other hosts. `seed` seeds the
 * draws of sizes, targets and kinds. Returns false on failure and writes the reason to `error`. */
bool storage_add(struct workload *workload, const struct workload_params *params,
		 const struct storage *storage, uint32_t target, uint64_t seed, char *error,
		 size_t error_bytes);

/* Processor time that an operation takes at each host, summed over cores. Numbers of its messages
 * and of their bytes, without headers of the transport. */
struct storage_use {
	sim_time initiator_cpu, target_cpu;
	uint64_t messages, message_bytes;
};
struct storage_use storage_use_of(const struct workload *workload, const struct workload_io *io);

#endif
