/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands: implementation of each uverbs command. A command takes its inputs from struct command,
 * responds through it, and returns 0 or -errno. The dispatch (write_abi.c, ioctl_abi.c) handles the
 * ABI and the time of a command.
 */
#ifndef VERBS_SHIM_KERNEL_COMMANDS_H
#define VERBS_SHIM_KERNEL_COMMANDS_H

#include "verbs-shim/kernel/command.h"

typedef int command_function(struct command *command);

/* context.c, device.c */
command_function get_context, query_device, query_device_ex, query_port;
/* pd.c */
command_function alloc_pd, dealloc_pd, open_xrcd, close_xrcd;
/* mr.c */
command_function reg_mr, rereg_mr, dereg_mr, alloc_mw, dealloc_mw;
/* Fetches pages of on-demand regions, as listed. If `wait` is true, the call takes until they are
 * present. */
int advise_mr(struct command *command, uint32_t pd_handle, uint64_t advice, bool wait,
	      const struct ib_uverbs_sge *list, uint32_t count);
/* ah.c */
command_function create_ah, destroy_ah;
/* cq.c */
command_function create_comp_channel, create_cq, create_cq_ex, resize_cq;
command_function modify_cq, destroy_cq;
/* srq.c */
command_function create_srq, create_xsrq, modify_srq, query_srq, destroy_srq;
/* qp.c, qp_modify.c */
command_function create_qp, create_qp_ex, destroy_qp, attach_mcast, detach_mcast;
command_function modify_qp, modify_qp_ex, query_qp;
/* siw.c */
command_function post_send;

/* Destroys an object without references, as the kernel does when a file is closed. Returns -EBUSY
 * if the object has references. */
int destroy_object(struct object *object);

#define RELEASE_FUNCTIONS(X)  \
	X(PD, release_pd)     \
	X(XRCD, release_xrcd) \
	X(MR, release_mr)     \
	X(MW, release_mw)     \
	X(AH, release_ah)     \
	X(CQ, release_cq)     \
	X(SRQ, release_srq)   \
	X(QP, release_qp)
/* Each releases everything that the object holds, but not the object itself. Returns 0 or
 * -errno. */
#define RELEASE_DECLARE(type, function) int function(struct object *object);
RELEASE_FUNCTIONS(RELEASE_DECLARE)

/* Finds the object of a destroy command. Returns 0, -ENOENT, or -EINVAL if the handle has another
 * type. */
int destroy_find(struct command *command, enum object_type type, uint32_t handle,
		 struct object **object);

/* Carries out a command by number. Its inputs must be in place. write_abi.c */
int write_abi_command(struct command *command, uint32_t number);
/* Sets the lengths of a legacy command's own input and output. Returns false if there is no such
 * command. */
bool write_abi_command_sizes(uint32_t number, uint32_t *in, uint32_t *out);
/* ioctl_abi.c */
int ioctl_abi_command(struct command *command, uint64_t argument);

#endif
