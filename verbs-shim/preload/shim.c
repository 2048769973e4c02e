/* SPDX-License-Identifier: Apache-2.0 */
/* shim: the state that all files of the preloaded library share. */
#include "verbs-shim/preload/shim.h"

struct shim shim = {.socket = -1, .queue_fd = -1, .attach_fd = -1, .memory_fd = -1};
__thread struct shim_self shim_self;
