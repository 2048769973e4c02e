/* SPDX-License-Identifier: Apache-2.0 */
/* json_schema: see json_schema.h. */
#include "hcasim/schema/json_schema.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "hca/congestion/congestion.h"
#include "hcasim/schema/composite.h"
#include "hcasim/schema/scenario_sections.h"
#include "sim/json.h"

/* Keys that no list describes, as members of "properties". The rest of a list's keys come from
 * the list itself. */
#define ANY_MAP_OF(schema) "{\"type\": \"object\", \"additionalProperties\": " schema "}"
#define REF(name)          "{\"$ref\": \"#/definitions/" name "\"}"
#define LIST_OF(schema)    "{\"type\": \"array\", \"items\": " schema "}"
#define ANY_MAP            "{\"type\": \"object\"}"
#define TEXT               "{\"type\": \"string\"}"

/* clang-format off */
static const struct {
	const char *section, *members;
} more[] = {
	{"hosts", ""},
	{"fabric",
	 "\"topology\": " REF("topology") ", \"switch\": " REF("switch") ", \"link\": " REF("link")
	 ", \"switches\": " ANY_MAP_OF(REF("switch")) ", \"links\": " LIST_OF(ANY_MAP) ", "
	 "\"link_rules\": " LIST_OF(ANY_MAP) ", \"vl_arbitration\": {}, \"service_levels\": {}, "
	 "\"dscp\": {}, \"routes\": {}, \"forwarding\": {}, \"multicast\": {}, \"partitions\": {}"},
	{"workload", "\"trace\": " TEXT ", \"cdf\": " TEXT ", \"initiators\": " LIST_OF(TEXT)
		     ", \"targets\": " LIST_OF(TEXT)},
	{"load", ""},
	{"faults", ""},
	{"mirrors", ""},
	{"record",
	 "\"trace\": " LIST_OF(TEXT) ", \"series_ports\": " LIST_OF(TEXT) ", "
	 "\"series_flows\": " LIST_OF(REF("count")) ", "
	 "\"only\": {\"type\": \"object\", \"additionalProperties\": false, \"properties\": {"
	 "\"from\": " REF("time") ", \"until\": " REF("time") ", \"ports\": " LIST_OF(TEXT) ", "
	 "\"hosts\": " LIST_OF(TEXT) ", \"opcodes\": " LIST_OF(TEXT) ", "
	 "\"qps\": " LIST_OF("{\"type\": [\"integer\", \"string\"]}") "}}"},
	{"expect", ""},
	{"programs", "\"host\": " TEXT ", \"command\": {\"type\": \"array\"}"},
};

/* Sections that are not plain maps. */
static const struct {
	const char *section, *schema;
} irregular[] = {
	{"hosts",
	 "{\"type\": \"object\", \"properties\": {"
	 "\"count\": " REF("count") ", \"hca\": " REF("adapter") ", \"host\": " REF("host") ", "
	 "\"except\": " ANY_MAP_OF(REF("machine"))
	 "}, \"additionalProperties\": " REF("machine") "}"},
	{"workloads", ANY_MAP_OF(REF("workload"))},
	{"faults", LIST_OF(ANY_MAP)},
	{"mirrors", LIST_OF(ANY_MAP)},
	{"expect", LIST_OF(ANY_MAP)},
	{"variants", ANY_MAP_OF("{\"type\": [\"object\", \"null\"]}")},
	{"sweep",
	 "{\"type\": \"object\", \"additionalProperties\": {\"type\": [\"array\", \"object\"]}}"},
};
/* clang-format on */

/* Prints the values of a kind. The only number without a unit is 0. */
static const struct {
	const char *name, *schema;
} kinds[PARAM_KIND_COUNT] = {
	[PARAM_COUNT] = {"count", "{\"type\": \"integer\", \"minimum\": 0}"},
	[PARAM_TIME] = {"time", "(ps|ns|us|ms|s)"},
	[PARAM_BYTES] = {"size", "(B|KiB|MiB|GiB|KB|MB|GB)"},
	[PARAM_RATE] = {"rate", "(bps|Kbps|Mbps|Gbps|Tbps)"},
	[PARAM_FREQ] = {"frequency", "(Hz|KHz|MHz|GHz)"},
	[PARAM_METRES] = {"length", "(m|cm|km)"},
	[PARAM_RATIO] = {"ratio", "{\"anyOf\": [{\"type\": \"number\"}, {\"type\": \"string\", "
				  "\"pattern\": \"^-?[0-9.]+([eE][-+]?[0-9]+)?%?$\"}]}"},
	[PARAM_FLAG] = {"flag", "{\"type\": \"boolean\"}"},
	[PARAM_CHOICE] = {"choice", NULL},
	[PARAM_TEXT] = {"text", "{\"type\": [\"string\", \"number\", \"null\"], \"minimum\": 0}"},
	[PARAM_SIZES] = {"sizes", LIST_OF(REF("size"))},
	[PARAM_CYCLE] = {"cycle", "{\"anyOf\": [" REF("size") ", " LIST_OF(REF("size")) "]}"},
};

static void print_kinds(FILE *out)
{
	for (unsigned kind = 0; kind < PARAM_KIND_COUNT; kind++) {
		const char *schema = kinds[kind].schema;
		if (!schema)
			continue;
		fprintf(out, "    \"%s\": ", kinds[kind].name);
		if (*schema == '(')
			fprintf(out,
				"{\"anyOf\": [{\"const\": 0}, {\"type\": \"string\", \"pattern\": "
				"\"^[0-9.]+([eE][-+]?[0-9]+)?%s$\"}]},\n",
				schema);
		else
			fprintf(out, "%s,\n", schema);
	}
}

/* A name that consists of digits is a number in YAML. */
static void print_choices(const char *range, FILE *out)
{
	const char *between = "";
	fputs("\"enum\": [", out);
	for (const char *at = range; *at != '\0';) {
		size_t length = strcspn(at, "|");
		const char *quote = strspn(at, "0123456789") == length ? "" : "\"";
		fprintf(out, "%s%s%.*s%s", between, quote, (int)length, at, quote);
		between = ", ";
		at += length + (at[length] == '|');
	}
	fputc(']', out);
}

/* Prints the limits of a whole number, unless they are written with a unit. */
static void print_limits(const char *range, FILE *out)
{
	const char *dots = strstr(range, "..");
	char *end;
	if (!dots) {
		fputs(", \"minimum\": 0", out);
		return;
	}
	uint64_t low = strtoull(range, &end, 10);
	if (end != range && end == dots)
		fprintf(out, ", \"minimum\": %" PRIu64, low);
	uint64_t high = strtoull(dots + 2, &end, 10);
	if (end != dots + 2 && *end == '\0')
		fprintf(out, ", \"maximum\": %" PRIu64, high);
}

/* Prints the least value of a ratio, if it is written as a number. */
static void print_least(const char *range, FILE *out)
{
	const char *dots = strstr(range, "..");
	char *end;
	if (dots && (strtod(range, &end), end == dots))
		fprintf(out, ", \"minimum\": %.*s", (int)(dots - range), range);
}

static void print_param(const struct param *param, FILE *out)
{
	fprintf(out, "\"%s\": {\"description\": ", param->name);
	json_text(out, param->meaning);
	fputs(", ", out);
	if (param->kind == PARAM_CHOICE) {
		print_choices(param->range, out);
	} else if (param->kind == PARAM_COUNT) {
		fputs("\"type\": \"integer\"", out);
		print_limits(param->range, out);
	} else {
		fprintf(out, "\"allOf\": [{\"$ref\": \"#/definitions/%s\"}]",
			kinds[param->kind].name);
		if (param->kind == PARAM_RATIO)
			print_least(param->range, out);
	}
	fputs(", \"default\": ", out);
	json_text(out, param->default_text);
	fputc('}', out);
}

/* Prints the members of "properties". Returns the separator for further members. */
static const char *print_members(const struct param *list, const struct param_section *sections,
				 FILE *out)
{
	const char *between = "";
	for (const struct param *param = list; param && param->name; param++) {
		fprintf(out, "%s\n      ", between);
		print_param(param, out);
		between = ",";
	}
	for (const struct param_section *section = sections; section && section->name; section++) {
		fprintf(out, "%s\n      \"%s\": {\"type\": \"object\", \"description\": ", between,
			section->name);
		json_text(out, section->meaning);
		fputs(", \"additionalProperties\": false, \"properties\": {", out);
		print_members(section->list, NULL, out);
		fputs("}}", out);
		between = ",";
	}
	return between;
}

static void print_congestion(FILE *out)
{
	fputs("    \"congestion\": {\"anyOf\": [" TEXT
	      ", {\"type\": \"object\", \"properties\": {\"preset\": " TEXT "}}]},\n",
	      out);
}

/* Prints a preset's name, or a map that may be based on a preset. `whole` is the preset file
 * itself, which has a kind. */
static void print_composite(const struct composite *composite, bool whole, FILE *out)
{
	fprintf(out, "    \"%s%s\": ", composite->name, whole ? "_preset" : "");
	if (!whole)
		fputs("{\"anyOf\": [" TEXT ", {\"type\": \"null\"}, ", out);
	fputs("{\"type\": \"object\", \"description\": ", out);
	json_text(out, composite->meaning);
	fputs(", \"additionalProperties\": false, \"properties\": {", out);
	const char *between = print_members(composite->list, composite->sections, out);
	fprintf(out, "%s\n      \"preset\": " TEXT, between);
	if (composite->extra)
		fprintf(out, ", \"%s\": " REF("congestion"), composite->extra->key);
	if (whole)
		fprintf(out, ", \"kind\": {\"const\": \"%s\"}", composite->name);
	else if (strcmp(composite->name, "hca") == 0 || strcmp(composite->name, "endpoint") == 0)
		fputs(", \"fidelity\": {\"enum\": [\"detailed\", \"endpoint\"]}", out);
	fprintf(out, "}}%s,\n", whole ? "" : "]}");
}

/* An adapter is an endpoint if its fidelity says so. */
static void print_adapter(FILE *out)
{
	fputs("    \"adapter\": {\"if\": {\"type\": \"object\", \"required\": [\"fidelity\"], "
	      "\"properties\": {\"fidelity\": {\"const\": \"endpoint\"}}}, \"then\": " REF(
		      "endpoint") ", \"else\": " REF("hca") "},\n",
	      out);
	fputs("    \"machine\": {\"type\": [\"object\", \"null\"], \"additionalProperties\": "
	      "false, \"properties\": {\"hca\": " REF("adapter") ", \"host\": " REF(
		      "host") ", "
			      "\"address\": " TEXT "}},\n",
	      out);
}

static void print_topology(FILE *out)
{
	fputs("    \"topology\": {\"anyOf\": [" TEXT
	      ", {\"type\": \"object\", \"additionalProperties\": false, \"properties\": {",
	      out);
	const char *between = print_members(scenario_topology_param_list, NULL, out);
	fprintf(out, "%s\n      \"file\": " TEXT "}}]},\n", between);
}

/* Prints the schema of one of several workloads. */
static void print_workload(FILE *out)
{
	fputs("    \"workload\": {\"type\": \"object\", \"additionalProperties\": false, "
	      "\"properties\": {",
	      out);
	print_members(workload_param_list, scenario_workload_sections, out);
	fputs(",\n      \"trace\": " TEXT ", \"cdf\": " TEXT ", \"hosts\": " LIST_OF(TEXT), out);
	fputs(", \"initiators\": " LIST_OF(TEXT) ", \"targets\": " LIST_OF(TEXT), out);
	fputs(", \"congestion\": " REF("congestion") "}},\n", out);
}

static const char *irregular_schema(const char *section)
{
	for (size_t i = 0; i < ARRAY_SIZE(irregular); i++)
		if (strcmp(irregular[i].section, section) == 0)
			return irregular[i].schema;
	return NULL;
}

static void print_section(const struct scenario_section *section, FILE *out)
{
	const char *schema = irregular_schema(section->name), *members = "";
	fprintf(out, ",\n      \"%s\": {\"description\": ", section->name);
	json_text(out, section->meaning);
	if (schema) {
		fprintf(out, ", \"allOf\": [%s]}", schema);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(more); i++)
		if (strcmp(more[i].section, section->name) == 0)
			members = more[i].members;
	bool is_list = section->irregular;
	fputs(is_list ? ", \"type\": \"array\", \"items\": {\"type\": \"object\""
		      : ", \"type\": \"object\"",
	      out);
	fputs(", \"additionalProperties\": false, \"properties\": {", out);
	const char *between = print_members(section->list, section->sections, out);
	if (*members != '\0')
		fprintf(out, "%s\n      %s", between, members);
	fputs(is_list ? "}}}" : "}}", out);
}

static void print_scenario(FILE *out)
{
	fputs("    \"scenario\": {\"type\": \"object\", \"additionalProperties\": false, "
	      "\"required\": [\"hosts\", \"fabric\"], \"properties\": {",
	      out);
	print_members(scenario_sections->list, NULL, out);
	for (const struct scenario_section *section = scenario_sections + 1; section->name;
	     section++)
		if (!strchr(section->name, '.'))
			print_section(section, out);
	fputs("}}\n", out);
}

void json_schema_print(FILE *out)
{
	fputs("{\n  \"$schema\": \"http://json-schema.org/draft-07/schema#\",\n"
	      "  \"title\": \"hcasim scenario or preset\",\n  \"type\": \"object\",\n"
	      "  \"if\": {\"required\": [\"kind\"]},\n  \"then\": {\"oneOf\": [",
	      out);
	for (unsigned kind = 0; kind < COMPOSITE_COUNT; kind++)
		fprintf(out, "%s{\"$ref\": \"#/definitions/%s_preset\"}", kind > 0 ? ", " : "",
			composite_of((enum composite_kind)kind)->name);
	fputs("]},\n  \"else\": " REF("scenario") ",\n  \"definitions\": {\n", out);
	print_kinds(out);
	print_congestion(out);
	for (unsigned kind = 0; kind < COMPOSITE_COUNT; kind++) {
		print_composite(composite_of((enum composite_kind)kind), false, out);
		print_composite(composite_of((enum composite_kind)kind), true, out);
	}
	print_adapter(out);
	print_topology(out);
	print_workload(out);
	print_scenario(out);
	fputs("  }\n}\n", out);
}
