/* SPDX-License-Identifier: Apache-2.0 */
/*
 * systemc_vcd: see systemc_vcd.h. SystemC writes a temporary file with the date in it. The copy
 * that replaces it has no date, so that equal runs write equal bytes.
 */
#include "sim/systemc_vcd.h"

#include <fnmatch.h>
#include <sysc/tracing/sc_tracing_ids.h>

#include <cassert>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "sim/gauge.h"
#include "sim/systemc.h"
#include "sim/systemc_context.h"

using namespace sc_core;

struct systemc_vcd {
	struct sim *sim;
	std::string path;
	std::vector<std::string> patterns;
	sc_trace_file *file = nullptr;
	size_t signals = 0;

	std::string draft() const
	{
		return path + ".part";
	}

	bool matches(const char *name)
	{
		for (const std::string &pattern : patterns) {
			if (fnmatch(pattern.c_str(), name, 0) == 0) {
				signals++;
				return true;
			}
		}
		return false;
	}
};

namespace
{

systemc_host *host_of(struct sim *sim)
{
	return static_cast<systemc_host *>(sim->host);
}

bool selected(const struct systemc_tracer *tracer, const char *name)
{
	return tracer->vcd->matches(name);
}

void split(const char *patterns, std::vector<std::string> *list)
{
	std::string text(patterns);

	for (size_t from = 0, to; from <= text.size(); from = to + 1) {
		to = text.find(',', from);
		if (to == std::string::npos)
			to = text.size();
		if (to > from)
			list->push_back(text.substr(from, to - from));
	}
}

void trace_counters(struct systemc_vcd *vcd)
{
	for (struct block *block = sim_blocks(vcd->sim); block != nullptr; block = block->next) {
		const struct counter *counter = block->type->counters;

		if (block->counts == nullptr || counter == nullptr)
			continue;
		for (const uint64_t *value = block->counts; counter->name != nullptr;
		     counter++, value++) {
			std::string name = std::string(block->name) + "." + counter->name;

			if (vcd->matches(name.c_str()))
				sc_trace(vcd->file, *value, name);
		}
	}
}

void trace_levels(struct systemc_vcd *vcd)
{
	for (struct block *block = sim_blocks(vcd->sim); block != nullptr; block = block->next) {
		const struct gauge_info *info = block->type->gauges;

		if (block->gauges == nullptr)
			continue;
		for (const struct gauge *gauge = block->gauges; info->name != nullptr;
		     info++, gauge++) {
			std::string name = std::string(block->name) + "." + info->name + "_level";

			if (info->kind != GAUGE_BUSY && vcd->matches(name.c_str()))
				sc_trace(vcd->file, gauge->level, name);
		}
	}
}

/* Copies the file without its date. */
bool copy_without_day(FILE *from, FILE *to)
{
	char line[512];
	bool in_day = false;

	while (std::fgets(line, sizeof(line), from) != nullptr) {
		if (std::strncmp(line, "$date", 5) == 0)
			in_day = true;
		if (!in_day)
			std::fputs(line, to);
		if (in_day && std::strstr(line, "$end") != nullptr)
			in_day = false;
	}
	return std::ferror(from) == 0 && std::fflush(to) == 0 && std::ferror(to) == 0;
}

} // namespace

void systemc_vcd_offer(struct sim *sim, const char *block, systemc_trace_function *trace,
		       void *module)
{
	host_of(sim)->offers.push_back({block, trace, module});
}

void systemc_vcd_withdraw(struct sim *sim, const void *module)
{
	std::vector<systemc_offer> &offers = host_of(sim)->offers;

	for (size_t i = 0; i < offers.size(); i++) {
		if (offers[i].module == module) {
			offers.erase(offers.begin() + static_cast<std::ptrdiff_t>(i));
			return;
		}
	}
}

struct systemc_vcd *systemc_vcd_open(struct sim *sim, const char *path, const char *patterns,
				     char *error, size_t error_bytes)
{
	systemc_vcd *vcd = new systemc_vcd;
	FILE *probe;

	vcd->sim = sim;
	vcd->path = path;
	split(patterns, &vcd->patterns);
	probe = std::fopen((vcd->draft() + ".vcd").c_str(), "w");
	if (probe == nullptr) {
		std::snprintf(error, error_bytes, "%s cannot be written: %s", path,
			      std::strerror(errno));
		delete vcd;
		return nullptr;
	}
	std::fclose(probe);
	host_of(sim)->context.enter();
	systemc_lockstep(sim);
	sc_report_handler::set_actions(SC_ID_TRACING_TIMESCALE_UNIT_, SC_DO_NOTHING);
	sc_report_handler::set_actions(SC_ID_TRACING_CLOSE_EMPTY_FILE_, SC_DO_NOTHING);
	vcd->file = sc_create_vcd_trace_file(vcd->draft().c_str());
	vcd->file->set_time_unit(1, SC_PS);
	trace_counters(vcd);
	trace_levels(vcd);
	for (const systemc_offer &offer : host_of(sim)->offers) {
		const struct systemc_tracer tracer = {vcd->file, offer.block.c_str(), vcd,
						      selected};

		offer.trace(offer.module, &tracer);
	}
	return vcd;
}

size_t systemc_vcd_signals(const struct systemc_vcd *vcd)
{
	return vcd->signals;
}

void systemc_vcd_abandon(struct systemc_vcd *vcd)
{
	host_of(vcd->sim)->context.enter();
	sc_close_vcd_trace_file(vcd->file);
	std::remove((vcd->draft() + ".vcd").c_str());
	delete vcd;
}

bool systemc_vcd_close(struct systemc_vcd *vcd, char *error, size_t error_bytes)
{
	std::string draft = vcd->draft() + ".vcd", path = vcd->path, part = path + ".part";
	FILE *from, *to;
	bool good;

	host_of(vcd->sim)->context.enter();
	sc_close_vcd_trace_file(vcd->file);
	delete vcd;
	from = std::fopen(draft.c_str(), "r");
	to = std::fopen(part.c_str(), "w");
	good = from != nullptr && to != nullptr && copy_without_day(from, to) &&
	       std::rename(part.c_str(), path.c_str()) == 0;
	if (!good)
		std::snprintf(error, error_bytes, "%s could not be written: %s", path.c_str(),
			      std::strerror(errno));
	if (from != nullptr)
		std::fclose(from);
	if (to != nullptr)
		std::fclose(to);
	std::remove(draft.c_str());
	if (!good)
		std::remove(part.c_str());
	return good;
}
