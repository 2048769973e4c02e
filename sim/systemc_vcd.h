/* SPDX-License-Identifier: Apache-2.0 */
/*
 * systemc_vcd: writes a waveform of a run, IEEE 1364-2005 clause 18, through SystemC's
 * sc_trace(). It contains the counters of all blocks, the levels of their gauges
 * ("host0.hca.dma.gathers_level") and the signals of SystemC modules that replace blocks.
 * Patterns select the signals.
 *
 *     module --systemc_vcd_offer()--> run --systemc_vcd_open()--> sc_trace_file --> FILE
 *
 * SystemC samples at each time at which an event fires, so the run is in lockstep (systemc.h).
 */
#ifndef SIM_SYSTEMC_VCD_H
#define SIM_SYSTEMC_VCD_H

#include "sim/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

struct systemc_vcd;

/* The receiver of a module's signals. The module calls sc_trace(static_cast<sc_trace_file
 * *>(tracer->file), signal, name) for each signal whose name is selected. Names start with the
 * block's name: "host0.hca.translation.mpt.hit". */
struct systemc_tracer {
	void *file;        /* sc_trace_file */
	const char *block; /* block whose signals are requested */
	struct systemc_vcd *vcd;
	bool (*selected)(const struct systemc_tracer *tracer, const char *name);
};

typedef void systemc_trace_function(void *module, const struct systemc_tracer *tracer);

/* Registers or removes a module that has signals. */
void systemc_vcd_offer(struct sim *sim, const char *block, systemc_trace_function *trace,
		       void *module);
void systemc_vcd_withdraw(struct sim *sim, const void *module);

/* Opens a waveform file before the first sim_run(). `patterns` are comma-separated glob
 * patterns, in which '*' matches dots too. The run must not be native. Returns NULL on failure
 * and writes the reason to `error`. */
struct systemc_vcd *systemc_vcd_open(struct sim *sim, const char *path, const char *patterns,
				     char *error, size_t error_bytes);

/* Returns the number of signals that match. */
size_t systemc_vcd_signals(const struct systemc_vcd *vcd);

/* Closes the waveform without writing the file. */
void systemc_vcd_abandon(struct systemc_vcd *vcd);

/* Writes and closes the file, before any block or module ends. Returns false if the file could
 * not be written, and writes the reason to `error`. */
bool systemc_vcd_close(struct systemc_vcd *vcd, char *error, size_t error_bytes);

#ifdef __cplusplus
}
#endif
#endif
