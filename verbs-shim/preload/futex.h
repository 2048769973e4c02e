/* SPDX-License-Identifier: Apache-2.0 */
/*
 * futex: futex(2) by syscall(), as the locks of GLib and of C++ use it. A thread that waits hands
 * over the token. Waits between processes, and other operations, are those of the system.
 */
#ifndef VERBS_SHIM_PRELOAD_FUTEX_H
#define VERBS_SHIM_PRELOAD_FUTEX_H

#include <stdbool.h>

/* Makes the call with these arguments of futex(2). Returns false if it is the system's. *result is
 * -1 with errno on failure. */
bool futex_call(const long words[6], long *result);

#endif
