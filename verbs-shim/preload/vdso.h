/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vdso: redirects the clock functions of the vDSO, which the kernel maps into each process, to the
 * library. This covers callers that bypass the dynamic linker: libc itself, and programs that
 * search the vDSO.
 */
#ifndef VERBS_SHIM_PRELOAD_VDSO_H
#define VERBS_SHIM_PRELOAD_VDSO_H

#include <stdbool.h>
#include <stdint.h>

struct vdso_function {
	const char *name; /* "__vdso_clock_gettime" */
	void *target;     /* with the same signature */
};

/* Replaces each function by a jump to its target. Functions that the vDSO lacks are skipped. The
 * list ends with an entry whose name is NULL. Returns false, without any change, if there is no
 * vDSO or it cannot be written. Called once per process image, with one thread. */
bool vdso_patch(const struct vdso_function *functions);

enum { VDSO_JUMP_BYTES = 12 };

/* Replaces the first VDSO_JUMP_BYTES of a writable function by a jump to a function with the same
 * signature. */
void vdso_write_jump(uint8_t *at, void *target);

#endif
