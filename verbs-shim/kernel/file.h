/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file: common part of all open files of the emulated kernel. The session knows them as struct
 * kernel_file.
 */
#ifndef VERBS_SHIM_KERNEL_FILE_H
#define VERBS_SHIM_KERNEL_FILE_H

#include "verbs-shim/kernel/kernel.h"

struct kernel_file { /* embedded, first, in struct context and struct channel */
	struct kernel *kernel;
	enum kernel_fd_kind kind;
	struct kernel_process *process; /* process that opened it; NULL: closed */
	struct kernel_file *next;       /* next file of that process */
};

void file_init(struct kernel_file *file, struct kernel *kernel, struct kernel_process *process,
	       enum kernel_fd_kind kind);
void file_fini(struct kernel_file *file); /* removes the file from its process, if it has one */

#endif
