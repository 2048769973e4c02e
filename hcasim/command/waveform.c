/* SPDX-License-Identifier: Apache-2.0 */
/* waveform: see waveform.h. */
#include "hcasim/command/waveform.h"

#include <stdio.h>

#include "sim/systemc_vcd.h"

#define ERROR_BYTES 1024

bool waveform_begin(const struct arguments *arguments, const struct build *build,
		    struct systemc_vcd **vcd)
{
	const char *signals = arguments->signals ? arguments->signals : "*";
	char error[ERROR_BYTES];
	*vcd = NULL;
	if (!arguments->vcd)
		return true;
	*vcd = systemc_vcd_open(build->sim, arguments->vcd, signals, error, sizeof(error));
	if (!*vcd) {
		say("%s", error);
		return false;
	}
	if (systemc_vcd_signals(*vcd) > 0)
		return true;
	say("no signal matches --signals %s; expected names such as host0.hca.scheduler.grants, "
	    "with * for any text; hcasim exec --counters FILE lists the counters of all blocks",
	    signals);
	systemc_vcd_abandon(*vcd);
	*vcd = NULL;
	return false;
}

bool waveform_end(struct systemc_vcd *vcd)
{
	char error[ERROR_BYTES];
	if (!vcd || systemc_vcd_close(vcd, error, sizeof(error)))
		return true;
	say("%s", error);
	return false;
}
