/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command: one uverbs command being carried out, whichever way it came: by write(), by the ioctl that wraps such a
 * write, or as an ioctl method of its own. Its inputs have been copied in; answers are copied out by command_reply().
 */
#ifndef VERBS_SHIM_KERNEL_COMMAND_H
#define VERBS_SHIM_KERNEL_COMMAND_H

#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>
#include <string.h>

#include "verbs-shim/kernel/internal.h"

#define COMMAND_IN_MAX 512

struct command_in {
	_Alignas(8) uint8_t bytes[COMMAND_IN_MAX]; /* zero behind length */
	uint32_t length;
};

struct command_out {
	uint64_t address;
	uint32_t length;
	/* Of the ioctl attribute, where "valid output" is to be noted; 0: none. */
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

/* By a call of a file of kind KERNEL_FD_COMMAND; where its parts are is not known yet. */
struct command command_of(struct kernel_file *file, struct kernel_call *call);

/* Copies `length` bytes of a structure to where the program wants it; what it left no room for is cut off, room
 * beyond it is zeroed. 0 or -EFAULT. */
int command_reply(struct command *command, const void *bytes, uint32_t length);
int command_reply_driver(struct command *command, const void *bytes, uint32_t length);
/* How much of a structure of `length` bytes is left then: what structures say in their `response_length`. */
uint32_t command_room(const struct command_out *out, uint32_t length);

/* Writes something without regard to room. */
int command_copy_out(struct command *command, uint64_t address, const void *bytes, uint32_t length);

/* A new file, whose number goes to that address. */
void command_new_file(struct command *command, struct kernel_file *file, enum kernel_fd_kind kind,
		      uint64_t number_at);

/* The driver's rings: the HCA will touch them often, and the program polls them or not. */
void command_share(struct command *command, uint64_t address, uint64_t length, bool polled);

/* The object of that type and handle in the caller's context; NULL: none. */
struct object *command_object(const struct command *command, enum object_type type,
			      uint32_t handle);

/* A command's input as the structure it is. */
#define COMMAND_CORE(command, structure, name)                  \
	struct structure name;                                  \
	_Static_assert(sizeof(name) <= COMMAND_IN_MAX, "fits"); \
	memcpy(&name, (command)->core.bytes, sizeof(name))
#define COMMAND_DRIVER(command, structure, name)                \
	struct structure name;                                  \
	_Static_assert(sizeof(name) <= COMMAND_IN_MAX, "fits"); \
	memcpy(&name, (command)->driver.bytes, sizeof(name))

#endif
