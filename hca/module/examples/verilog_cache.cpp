/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verilog_cache: Verilog RTL that replaces the translation unit: translation_cache.h with the tags
 * in tag_array.v, which verilator converts to a SystemC module. With the same parameters, a run
 * gives the same results as with the built-in unit.
 *
 *     translation_cache_unit --touch(), insert()--> rtl_tags --wires, one clock edge--> Vtag_array
 *
 * The RTL executes its operations one after another inside calls of the adapter, each with one edge
 * of a clock that is otherwise idle. The caches' parameters set the simulated time of an operation.
 * The wires therefore take their values at once, and the process of the RTL is called directly. RTL
 * with its own clock uses sc_signals and responds later (docs/explanation/systemc.md).
 */
#include <Vtag_array.h>
#include <Vtag_array___024root.h>

#include "hca/module/examples/translation_cache.h"

using namespace sc_core;

enum { RTL_WAYS = 4, RTL_ROWS_MAX = 512 };

/* A channel that takes a written value at once instead of a delta cycle later. No process waits for
 * its events. */
template <typename T> class wire : public sc_prim_channel, public sc_signal_inout_if<T>
{
      public:
	T value = 0;

	explicit wire(const char *name) : sc_prim_channel(name)
	{
	}
	void write(const T &written) override
	{
		value = written;
	}
	const T &read() const override
	{
		return value;
	}
	const T &get_data_ref() const override
	{
		return value;
	}
	const sc_event &default_event() const override
	{
		return changed;
	}
	const sc_event &value_changed_event() const override
	{
		return changed;
	}
	bool event() const override
	{
		return false;
	}

      protected:
	sc_event changed;
};

class wire_bool : public wire<bool>
{
      public:
	using wire<bool>::wire;

	const sc_event &posedge_event() const override
	{
		return changed;
	}
	const sc_event &negedge_event() const override
	{
		return changed;
	}
	bool posedge() const override
	{
		return false;
	}
	bool negedge() const override
	{
		return false;
	}

      private:
	sc_reset *is_reset() const override
	{
		return nullptr;
	}
};

class rtl_tags : public sc_module
{
      public:
	rtl_tags(sc_module_name name, const struct icm_cache_params &param)
	    : sc_module(name), rows(param.entries / param.ways), rtl("rtl"), clk("clk"), op("op"),
	      line("line"), row("row"), hit("hit"), full("full"), victim("victim")
	{
		SC_HAS_PROCESS(rtl_tags);
		SC_METHOD(fall);
		sensitive << falling;
		dont_initialize();
		rtl.clk(clk);
		rtl.op(op);
		rtl.line(line);
		rtl.row(row);
		rtl.hit(hit);
		rtl.full(full);
		rtl.victim(victim);
		for (sc_object *object : rtl.get_child_objects())
			if (std::string(object->kind()) == "sc_method_process")
				process = sc_process_handle(object);
		sc_assert(process.valid());
	}

	bool touch(uint64_t number)
	{
		present(LOOKUP, number);
		bool was_hit = hit.value;
		edge();
		return was_hit;
	}

	bool insert(uint64_t number, uint64_t *evicted)
	{
		present(INSERT, number);
		bool was_full = full.value;
		*evicted = victim.value;
		edge();
		return was_full;
	}

	/* Invalidates lines by direct access to the RTL's arrays. A driver's command takes no time
	 * and may come while no simulation runs. */
	uint64_t forget(uint64_t first, uint64_t lines)
	{
		auto &valid = rtl.rootp->tag_array__DOT__valid;
		auto &tags = rtl.rootp->tag_array__DOT__tags;
		uint64_t sum = 0;

		for (uint64_t i = 0; i < rows && i < lines; i++) {
			uint64_t entry = (first + i) % rows * RTL_WAYS;

			for (uint64_t end = entry + RTL_WAYS; entry < end; entry++) {
				if (valid[entry] && tags[entry] - first < lines) {
					valid[entry] = 0; /* wraps below the first line */
					sum++;
				}
			}
		}
		return sum;
	}

	void signals(const struct systemc_tracer *tracer, const std::string &name)
	{
		traced = true;
		trace_signal(tracer, clk.value, name + ".clk");
		trace_signal(tracer, op.value, name + ".op");
		trace_signal(tracer, line.value, name + ".line");
		trace_signal(tracer, row.value, name + ".row");
		trace_signal(tracer, hit.value, name + ".hit");
		trace_signal(tracer, full.value, name + ".full");
		trace_signal(tracer, victim.value, name + ".victim");
	}

      private:
	enum operation { NONE, LOOKUP, INSERT };

	uint64_t rows;
	Vtag_array rtl;
	wire_bool clk;
	wire<uint32_t> op;
	wire<uint64_t> line;
	wire<uint32_t> row;
	wire_bool hit, full;
	wire<uint64_t> victim;
	sc_process_handle process; /* process of the RTL */
	sc_event falling;
	bool traced = false;

	/* Runs a method process at once: IEEE 1666-2011, 5.6.6.3. */
	void evaluate()
	{
		process.reset();
	}

	void present(enum operation what, uint64_t number)
	{
		if (clk.value)
			fall();
		op.value = what;
		line.value = number;
		row.value = static_cast<uint32_t>(number % rows);
		evaluate();
	}

	/* Creates a clock pulse. It has a duration only if waveforms are recorded. */
	void edge()
	{
		clk.value = true;
		evaluate();
		if (traced)
			falling.notify(1, SC_NS);
		else
			fall();
	}

	void fall()
	{
		clk.value = false;
		op.value = NONE;
		evaluate();
	}
};

static bool accepts(const struct translation_params *params, char *error, size_t error_bytes)
{
	const struct icm_cache_params *caches[] = {&params->mpt, &params->mtt};

	for (const struct icm_cache_params *cache : caches) {
		uint64_t rows = cache->entries / RTL_WAYS;

		if (cache->ways != RTL_WAYS || rows > RTL_ROWS_MAX || rows == 0) {
			snprintf(error, error_bytes,
				 "mpt and mtt: the RTL supports only ways: %d and at most %d "
				 "entries",
				 RTL_WAYS, RTL_WAYS * RTL_ROWS_MAX);
			return false;
		}
	}
	return translation_cache_accepts(params, error, error_bytes);
}

HCA_TRANSLATION_MODULE(translation_cache_unit<rtl_tags>, "verilog_cache",
		       "two set-associative caches, their tags in Verilog", accepts);
