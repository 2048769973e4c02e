/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command: one uverbs command in execution. It arrived through write(), through the ioctl that
 * wraps such a write, or as an ioctl method. Its inputs have been copied in. command_reply() copies
 * responses out.
 */
#ifndef VERBS_SHIM_KERNEL_COMMAND_H
#define VERBS_SHIM_KERNEL_COMMAND_H

#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>
#include <string.h>

#include "verbs-shim/kernel/internal.h"

#define COMMAND_IN_MAX 512

struct command_in {
	_Alignas(8) uint8_t bytes[COMMAND_IN_MAX]; /* zero beyond length */
	uint32_t length;
};

struct command_out {
	uint64_t address;
	uint32_t length;
	/* Address of the flags of the ioctl attribute, which receive "valid output". 0: none. */
	uint64_t flags_at;
	uint16_t flags;
};

struct command {
	struct kernel *kernel;
	struct context *context;
	struct kernel_call *call;
	struct memory *memory;
	struct command_in core, driver; /* common part; mlx5 part */
	struct command_out core_out, driver_out;
};

/* Creates the command of a call on a file of kind KERNEL_FD_COMMAND. Its parts are not located
 * yet. */
struct command command_of(struct kernel_file *file, struct kernel_call *call);

/* Copy `length` bytes of a structure to the program. The copy is truncated to the program's space,
 * and the rest of the space is zeroed. Return 0 or -EFAULT. */
int command_reply(struct command *command, const void *bytes, uint32_t length);
int command_reply_driver(struct command *command, const void *bytes, uint32_t length);
/* Returns the length of a structure of `length` bytes after truncation, as structures report it in
 * `response_length`. */
uint32_t command_room(const struct command_out *out, uint32_t length);

/* Copies bytes out without a check of the space. */
int command_copy_out(struct command *command, uint64_t address, const void *bytes, uint32_t length);

/* Adds a new file to the call. Its descriptor number is stored at `number_at`. */
void command_new_file(struct command *command, struct kernel_file *file, enum kernel_fd_kind kind,
		      uint64_t number_at);

/* Shares the driver's rings, which the HCA accesses often. `polled`: the program polls them. */
void command_share(struct command *command, uint64_t address, uint64_t length, bool polled);

/* Returns the object with that type and handle in the caller's context, or NULL. */
struct object *command_object(const struct command *command, enum object_type type,
			      uint32_t handle);

/* Declare `name` as a copy of the command's input with the type `structure`. */
#define COMMAND_CORE(command, structure, name)                  \
	struct structure name;                                  \
	_Static_assert(sizeof(name) <= COMMAND_IN_MAX, "fits"); \
	memcpy(&name, (command)->core.bytes, sizeof(name))
#define COMMAND_DRIVER(command, structure, name)                \
	struct structure name;                                  \
	_Static_assert(sizeof(name) <= COMMAND_IN_MAX, "fits"); \
	memcpy(&name, (command)->driver.bytes, sizeof(name))

#endif
