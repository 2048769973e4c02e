/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vdso: makes the clock functions that the kernel maps into each process (vDSO) lead to ours, for callers that do not
 * go through the dynamic linker: libc's own, and programs that look up the vDSO themselves.
 */
#ifndef VERBS_SHIM_PRELOAD_VDSO_H
#define VERBS_SHIM_PRELOAD_VDSO_H

#include <stdbool.h>
#include <stdint.h>

struct vdso_function {
	const char *name; /* "__vdso_clock_gettime" */
	void *target;     /* with the same signature */
};

/* Replaces each function (those that the vDSO lacks are left out) by a jump to its target. The list ends with a NULL name.
 * false: there is no vDSO, or it cannot be written; nothing was changed. Called once per process image, single-threaded. */
bool vdso_patch(const struct vdso_function *functions);

/* The first 12 bytes of a function, which may be written, become a jump to one with the same signature. */
void vdso_write_jump(uint8_t *at, void *target);

#endif
