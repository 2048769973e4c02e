/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_programs: section `programs`: programs that hcasim exec starts, and their hosts.
 *
 *     programs: [{host: host0, command: [ib_write_bw]},
 *                {host: host1, start: 1ms, command: [ib_write_bw, host0]}]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hcasim/schema/scenario_read.h"

/* clang-format off */
#define ROW(...) PARAM_ROW(struct scenario_start, __VA_ARGS__)
const struct param scenario_program_param_list[] = { PROGRAM_PARAMS(ROW) {0} };
/* clang-format on */

static void read_program_host(struct scenario_reader *reader, struct yaml_node *map, uint32_t *host)
{
	struct yaml_node *node = yaml_get(map, "host");
	const char *name = node ? yaml_expect_text(node, "a host's name", reader->errors) : NULL;
	*host = NO_HOST;
	if (!node)
		yaml_error(reader->errors, map, "no host; expected host: NAME");
	if (!name)
		return;
	*host = scenario_find_host(reader->scenario, name);
	if (*host == NO_HOST)
		scenario_hosts_refuse(reader, node, name);
	else if (!reader->scenario->hosts[*host].detailed)
		yaml_error(reader->errors, node,
			   "%s has an HCA of fidelity endpoint, which no "
			   "program can use",
			   name);
}

static void read_program(struct scenario_reader *reader, struct yaml_node *node)
{
	static const char *const keys[] = {"host", "command", NULL};
	struct scenario *scenario = reader->scenario;
	struct scenario_program *program = &scenario->programs[scenario->program_count++];
	struct scenario_start start;
	params_default(scenario_program_param_list, &start);
	if (!yaml_expect_map(node, "a program's host and command", reader->errors))
		return;
	read_program_host(reader, node, &program->host);
	yaml_override_params(node, scenario_program_param_list, &start, reader->errors);
	program->start = start.start;
	program->server = start.server;
	struct yaml_node *command = yaml_get(node, "command");
	if (!command) {
		yaml_error(reader->errors, node,
			   "no command; expected command: [program, argument ...]");
	} else if (scenario_expect_list(reader, command, "a program and its arguments")) {
		uint32_t count = 0, entries = 0;
		for (struct yaml_node *word = command->children; word; word = word->next)
			entries++;
		program->argv = calloc(entries + 1, sizeof(*program->argv));
		if (!program->argv)
			abort();
		for (struct yaml_node *word = command->children; word; word = word->next) {
			const char *text = yaml_expect_text(word, "an argument", reader->errors);
			program->argv[count++] = strdup(text ? text : "");
		}
		if (entries == 0)
			yaml_error(reader->errors, command,
				   "the command is empty; expected [PROGRAM, ARGUMENT, ...]");
	}
	scenario_refuse_unused(reader, node, scenario_program_param_list, keys);
}

const char *const *scenario_programs_read(struct scenario_reader *reader, struct yaml_node *node)
{
	struct scenario *scenario = reader->scenario;
	if (!node || !scenario_expect_list(reader, node, "programs"))
		return NULL;
	scenario->programs =
		scenario_take_entries(node, sizeof(*scenario->programs), &scenario->program_count);
	for (struct yaml_node *program = node->children; program; program = program->next)
		read_program(reader, program);
	return NULL;
}

void scenario_programs_print(const struct scenario *scenario, FILE *out)
{
	for (uint32_t i = 0; i < scenario->program_count; i++) {
		const struct scenario_program *program = &scenario->programs[i];
		struct scenario_start start = {.start = program->start, .server = program->server};
		fprintf(out, "  - host: %s\n", scenario->hosts[program->host].name);
		scenario_print_list(scenario_program_param_list, &start, 4, out);
		fprintf(out, "    command: [");
		for (char **word = program->argv; *word; word++) {
			fprintf(out, "%s", word != program->argv ? ", " : "");
			scenario_print_text(*word, out);
		}
		fprintf(out, "]\n");
	}
}

void scenario_programs_release(struct scenario *scenario)
{
	for (uint32_t i = 0; i < scenario->program_count; i++) {
		for (char **word = scenario->programs[i].argv; word && *word; word++)
			free(*word);
		free(scenario->programs[i].argv);
	}
	free(scenario->programs);
}
