/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine: a host for tests of the emulated kernel: an adapter, a kernel, and processes whose
 * memory is a buffer. It replaces the session: it places descriptors, stores the bytes of channels,
 * and makes the calls.
 */
#ifndef TESTS_KERNEL_SUPPORT_MACHINE_H
#define TESTS_KERNEL_SUPPORT_MACHINE_H

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdio.h>
#include <string.h>

#include "verbs-shim/kernel/internal.h"

#define MEMORY_BASE   UINT64_C(0x10000000)
#define MEMORY_BYTES  UINT64_C(0x400000)
#define CALL_AREA     (MEMORY_BASE + 0x1000) /* arguments of calls */
#define RESPONSE_AREA (MEMORY_BASE + 0x3000)
#define RING_AREA     (MEMORY_BASE + 0x10000) /* free for rings */
#define FILES_MAX     64

struct pipe_bytes {
	uint8_t bytes[4096];
	uint32_t length;
};

struct machine {
	struct kernel_host host; /* first */
	struct sim *sim;
	struct packet_pool *pool;
	struct endpoints *endpoints;
	struct hca *adapter;
	struct kernel *kernel;
	struct kernel_process process, other; /* two processes */
	struct kernel_file *files[FILES_MAX]; /* by descriptor; NULL: closed */
	enum kernel_fd_kind kinds[FILES_MAX];
	struct pipe_bytes pipes[FILES_MAX];
	uint64_t identities[FILES_MAX]; /* of descriptors outside the emulated kernel */
	int32_t command_fd;             /* target of calls */
	bool by_write;                  /* calls use write(), not the ioctl */
	struct kernel_call call;        /* the last one */
	char refused[100];              /* the last thing not modelled */
	uint32_t refused_count;
};

/* Creates a machine with two endpoints. This machine is 0. 1 is the destination of packets. */
struct machine *machine_create(enum link_layer link_layer);
struct machine *machine_create_with(enum link_layer link_layer, const struct hca_params *params);
void machine_destroy(struct machine *machine);

/* Opens the device, which receives the calls from now on. With `with_context`, also calls
 * GET_CONTEXT. Returns its descriptor. */
int32_t machine_open(struct machine *machine, struct kernel_process *process, bool with_context);
int64_t machine_close(struct machine *machine, int32_t number);

/* Runs a command with its common and mlx5 parts, in and out. Returns 0 for success, and otherwise
 * the result of write() or ioctl(). */
int64_t machine_command(struct machine *machine, uint32_t command, const void *in,
			uint32_t in_bytes, const void *driver_in, uint32_t driver_in_bytes,
			void *out, uint32_t out_bytes, void *driver_out, uint32_t driver_out_bytes);

/* These macros run commands in the common cases. */
#define RUN(machine, number, in, out) \
	machine_command(machine, number, &(in), sizeof(in), NULL, 0, &(out), sizeof(out), NULL, 0)
#define RUN_QUIET(machine, number, in) \
	machine_command(machine, number, &(in), sizeof(in), NULL, 0, NULL, 0, NULL, 0)
#define RUN_DRIVER(machine, number, in, driver, out, driver_out)                               \
	machine_command(machine, number, &(in), sizeof(in), &(driver), sizeof(driver), &(out), \
			sizeof(out), &(driver_out), sizeof(driver_out))

/* Reads up to that many bytes of a channel, as the program would. */
uint32_t machine_read(struct machine *machine, int32_t number, void *bytes, uint32_t length);

/* Make the first calls of a program, each with its usual values. They return handles and end the
 * test if refused. */
uint32_t make_pd(struct machine *machine);
uint32_t make_mr(struct machine *machine, uint32_t pd, uint32_t *key);
int32_t make_channel(struct machine *machine);
uint32_t make_cq(struct machine *machine, int32_t channel, uint64_t user_handle, uint32_t *cqn);
uint32_t make_srq(struct machine *machine, uint32_t pd, uint32_t *srqn);
void qp_request(struct ib_uverbs_create_qp *request, uint32_t pd, uint32_t cq, uint8_t type);
struct mlx5_ib_create_qp qp_driver_request(void);
uint32_t make_qp(struct machine *machine, uint32_t pd, uint32_t cq, uint8_t type, uint32_t *qpn);

/* Moves a queue pair through INIT and RTR to RTS. Returns the results of the three transitions. */
int64_t qp_to_init(struct machine *machine, uint32_t qp, uint8_t type);
int64_t qp_to_rtr(struct machine *machine, uint32_t qp, uint8_t type, uint32_t remote_qp);
int64_t qp_to_rts(struct machine *machine, uint32_t qp, uint8_t type);

#endif
