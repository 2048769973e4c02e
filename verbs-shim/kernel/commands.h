/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands: what each uverbs command does. Each takes its inputs from the struct command, answers through it, and
 * returns 0 or -errno. Which ABI carries it, and what it costs, is dispatch's affair (write_abi.c, ioctl_abi.c).
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
/* Brings in pages of on-demand regions, as the list names them; wait: the call takes until they are there. */
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

/* Destroys an object nobody relies on, as the kernel does when a file is closed; -EBUSY: somebody does. */
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
/* Each gives back what the object holds, all but the object itself. 0 or -errno. */
#define RELEASE_DECLARE(type, function) int function(struct object *object);
RELEASE_FUNCTIONS(RELEASE_DECLARE)

/* What every destroy command begins with: -ENOENT, -EINVAL (another type) or the object. */
int find_to_destroy(struct command *command, enum object_type type, uint32_t handle,
		    struct object **object);

/* write_abi.c: carries out a command by its number, its inputs being in place. */
int write_command(struct command *command, uint32_t number);
/* Lengths of a legacy command's own part, in and out; false: not such a command. */
bool write_command_sizes(uint32_t number, uint32_t *in, uint32_t *out);
/* ioctl_abi.c */
int ioctl_command(struct command *command, uint64_t argument);

#endif
