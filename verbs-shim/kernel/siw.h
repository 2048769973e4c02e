/* SPDX-License-Identifier: Apache-2.0 */
/*
 * siw: the driver's part of the kernel for iWARP adapters, with the user ABI of Linux's siw:
 * <rdma/siw-abi.h>. Programs use libsiw. They map the rings of their objects from the command file,
 * and write POST_SEND without work requests as a doorbell.
 */
#ifndef VERBS_SHIM_KERNEL_SIW_H
#define VERBS_SHIM_KERNEL_SIW_H

#include "verbs-shim/kernel/cm.h"
#include "verbs-shim/kernel/commands.h"

/* Rings of a context that the program may map. */
struct siw_ring {
	struct siw_ring *next;
	uint64_t key, bytes;
	uint32_t number; /* of the object */
	uint8_t kind;    /* enum rnic_ring_kind */
};

/* Returns the adapter's iWARP engine, or NULL if the adapter has another driver. */
struct rnic *siw_rnic(const struct kernel *kernel);

/* Returns the function of siw for a command of the mlx5 driver, or NULL if siw has no such
 * command. */
command_function *siw_command(command_function *of_mlx5);

int siw_map(struct context *context, struct kernel_call *call, uint64_t key, uint64_t length);
int siw_map_ring(struct context *context, struct kernel_call *call, uint64_t key, uint64_t address);
void siw_close(struct context *context);

int siw_release_cq(struct object *object);
int siw_release_qp(struct object *object);
int siw_release_srq(struct object *object);

/* siw_cm.c: connections of rdma_cm. */
void siw_cm_init(struct kernel *kernel);
int siw_cm_connect(struct cm_id *id, const struct rdma_ucm_conn_param *param);
int siw_cm_accept(struct cm_id *id, const struct rdma_ucm_conn_param *param);
int siw_cm_reject(struct cm_id *id, const struct rdma_ucm_reject *request);
int siw_cm_disconnect(struct cm_id *id);
void siw_cm_leave(struct cm_id *id);

/* Returns true if connections of the identifier use iWARP. */
bool siw_cm_has(const struct cm_id *id);

#endif
