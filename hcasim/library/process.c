/* SPDX-License-Identifier: Apache-2.0 */
/* process: see process.h. */
#include "hcasim/library/process.h"

#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t systemc_thread; /* while systemc_users > 0 */
static unsigned systemc_users;
static bool flow_level_taken;

static bool is_of_other_thread(void)
{
	return systemc_users > 0 && !pthread_equal(systemc_thread, pthread_self());
}

static const char other_thread[] =
	"simulations with SystemC modules belong to one thread, and another thread has one";

bool process_claim(struct process_claim claim, char *error, size_t error_bytes)
{
	const char *reason = NULL;

	pthread_mutex_lock(&lock);
	if (claim.systemc && is_of_other_thread())
		reason = other_thread;
	else if (claim.flow_level && flow_level_taken)
		reason = "fabric.fidelity: flow: this process has already had such a simulation, "
			 "and SimGrid supports one per process";
	if (!reason) {
		if (claim.systemc && systemc_users++ == 0)
			systemc_thread = pthread_self();
		flow_level_taken |= claim.flow_level;
	}
	pthread_mutex_unlock(&lock);
	if (reason)
		snprintf(error, error_bytes, "%s", reason);
	return !reason;
}

void process_release(struct process_claim claim, bool ran)
{
	pthread_mutex_lock(&lock);
	systemc_users -= claim.systemc;
	if (claim.flow_level && !ran)
		flow_level_taken = false;
	pthread_mutex_unlock(&lock);
}

bool process_may_run(struct process_claim claim, char *error, size_t error_bytes)
{
	bool may;

	pthread_mutex_lock(&lock);
	may = !claim.systemc || !is_of_other_thread();
	pthread_mutex_unlock(&lock);
	if (!may)
		snprintf(error, error_bytes, "%s", other_thread);
	return may;
}
