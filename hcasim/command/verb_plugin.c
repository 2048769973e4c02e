/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb_plugin: hcasim plugin new KIND NAME writes a plug-in that compiles, and hcasim plugin build
 * FILE.c compiles and opens it. A plug-in is an algorithm of congestion control or of a switch, or
 * replaces a block of an adapter. The kinds are the files of scenarios/plugins/templates/. Each is
 * a plug-in called `example`.
 */
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hca/congestion/congestion.h"
#include "hca/device/hca_modules.h"
#include "hcasim/command/templates.h"
#include "hcasim/command/verb.h"
#include "sim/install_paths.h"
#include "switch/plugins.h"

#define LINE_BYTES   512
#define NAME_MOST    64
#define EXAMPLE      "example"
#define SYMBOL_BYTES 64
#define ERROR_BYTES  (PATH_MAX + 512)

/* A description is the comment's first line: " * example: a load balancer ...". */
static const struct template_folder folder = {
	"scenarios/plugins/templates", ".c", "plug-in", "hcasim plugin", 3, ": "};

/* ---- new ---- */

static bool is_name(const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '_')
			return false;
	return length > 0 && length <= NAME_MOST && !isdigit((unsigned char)name[0]);
}

/* Replaces `word`, in the case of the template, by `by` in the whole text. */
static void write_replaced(const char *line, const char *word, const char *by, FILE *out)
{
	char upper[NAME_MOST + 1] = "";
	size_t length = strlen(word);

	for (size_t i = 0; by[i]; i++)
		upper[i] = (char)toupper((unsigned char)by[i]);
	while (*line) {
		if (strncmp(line, word, length) == 0) {
			fputs(by, out);
			line += length;
		} else if (strncasecmp(line, word, length) == 0 && isupper((unsigned char)*line)) {
			fputs(upper, out);
			line += length;
		} else {
			fputc(*line++, out);
		}
	}
}

static int write_plugin(const char *from, const char *name)
{
	char path[NAME_MOST + 8], line[LINE_BYTES];
	FILE *in = fopen(from, "r"), *out;

	snprintf(path, sizeof(path), "%s.c", name);
	out = in ? fopen(path, "wx") : NULL;
	if (!out) {
		if (in && errno == EEXIST)
			say("%s exists, and plugin new does not overwrite files; choose another "
			    "NAME",
			    path);
		else
			say("%s: %s", in ? path : from, strerror(errno));
		if (in)
			fclose(in);
		return EXIT_BAD_INPUT;
	}
	while (fgets(line, sizeof(line), in))
		write_replaced(line, EXAMPLE, name, out);
	fclose(in);
	if (fclose(out) != 0) {
		say("%s: %s", path, strerror(errno));
		remove(path);
		return EXIT_BAD_INPUT;
	}
	printf("%s: hcasim plugin build %s\n", path, path);
	return EXIT_GOOD;
}

static int new_plugin(const struct templates *templates, const char *kind, const char *name)
{
	const char *from;

	if (!is_name(name)) {
		say("\"%s\" is not a valid name of a plug-in; expected letters, digits and _, at "
		    "most %d",
		    name, NAME_MOST);
		return EXIT_BAD_INPUT;
	}
	from = templates_choose(templates, kind);
	return from ? write_plugin(from, name) : EXIT_BAD_INPUT;
}

/* ---- build ---- */

/* Runs the compiler. Returns false, having said why, if it does not succeed. An installation has
 * the headers of the models below include/hcasim/. In a build tree, include/ is a link to that of
 * the source tree, which has them beside it. */
static bool compile(const char *source, const char *object)
{
	static const char *const folders[] = {"", "/hcasim", "/.."};
	char includes[ARRAY_SIZE(folders)][PATH_MAX + 32];
	const char *compiler = getenv("CC") ? getenv("CC") : "cc";
	const char *arguments[] = {compiler,  "-std=gnu11", "-O2",       "-Wall",     "-fPIC",
				   "-shared", includes[0],  includes[1], includes[2], source,
				   "-o",      object,       NULL};
	int error, status = 0;
	pid_t child;

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		snprintf(includes[i], sizeof(includes[i]), "-I%s../include%s",
			 install_paths_program(), folders[i]);
	error = posix_spawnp(&child, compiler, NULL, NULL, (char *const *)(uintptr_t)arguments,
			     environ);
	if (error == 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
	    WEXITSTATUS(status) == 0)
		return true;
	if (error)
		say("%s: %s; expected a C compiler, or its name in CC", compiler, strerror(error));
	else
		say("%s does not compile; its messages are above", source);
	return false;
}

static bool open_congestion(const char *object, char *error, size_t error_bytes)
{
	struct congestion congestion;

	if (!congestion_init(&congestion, object, error, error_bytes))
		return false;
	printf("%s: congestion control \"%s\": --set hosts.hca.congestion=%s\n", object,
	       congestion.ops->name, object);
	congestion_fini(&congestion);
	return true;
}

static bool open_module(enum module_kind kind, const char *object, char *error, size_t error_bytes)
{
	const char *block = module_block(kind);
	const struct module_head *head = hca_module_find(kind, object, error, error_bytes);

	if (head)
		printf("%s: %s of adapters \"%s\": --set hosts.hca.%s.module=%s\n", object, block,
		       head->name, block, object);
	return head;
}

static bool open_plugin(enum plugin_kind kind, const char *object, char *error, size_t error_bytes)
{
	struct plugin_object plugin;

	if (!plugins_open(&plugin, kind, object, "", error, error_bytes))
		return false;
	printf("%s: %.*s \"%s\": --set fabric.switch.plugins.%s=%s\n", object,
	       (int)(strlen(plugin.name) - strlen(object) - 1), plugin.name, plugin.plugin->name,
	       plugins_key(kind), object);
	plugins_close(&plugin);
	return true;
}

/* Returns true if the library exports a table that is called `before`, `kind`, `after`. */
static bool exports(void *library, const char *before, const char *kind, const char *after)
{
	char symbol[SYMBOL_BYTES];

	snprintf(symbol, sizeof(symbol), "%s%s%s", before, kind, after);
	return dlsym(library, symbol);
}

/* Opens the object as the kind whose table it exports, and prints how to use it. On failure `error`
 * has the reason. */
static bool open_as(void *library, const char *object, char *error, size_t error_bytes)
{
	if (exports(library, "", "congestion", "_plugin"))
		return open_congestion(object, error, error_bytes);
	for (unsigned kind = 0; kind < PLUGIN_KIND_COUNT; kind++)
		if (exports(library, "", plugins_key((enum plugin_kind)kind), "_plugin"))
			return open_plugin((enum plugin_kind)kind, object, error, error_bytes);
	for (unsigned kind = 0; kind < MODULE_KIND_COUNT; kind++)
		if (exports(library, "hca_", module_block((enum module_kind)kind), "_module"))
			return open_module((enum module_kind)kind, object, error, error_bytes);
	snprintf(error, error_bytes,
		 "%s exports no table of a plug-in; expected congestion_plugin, balance_plugin, "
		 "schedule_plugin, marking_plugin, buffer_plugin, or hca_..._module of "
		 "hcasim/modules.h",
		 object);
	return false;
}

static bool open_object(const char *object, char *error, size_t error_bytes)
{
	void *library = dlopen(object, RTLD_NOW | RTLD_LOCAL);
	bool good;

	if (!library) {
		snprintf(error, error_bytes, "%s", dlerror());
		return false;
	}
	good = open_as(library, object, error, error_bytes);
	dlclose(library);
	return good;
}

static int build(const char *source)
{
	size_t length = strlen(source);
	char object[PATH_MAX], error[ERROR_BYTES];
	bool local = source[0] != '/' && source[0] != '.';

	if (length < 3 || strcmp(source + length - 2, ".c") != 0) {
		say("%s is not a C source; expected FILE.c", source);
		return EXIT_BAD_INPUT;
	}
	snprintf(object, sizeof(object), "%s%.*s.so", local ? "./" : "", (int)length - 2, source);
	if (!compile(source, object))
		return EXIT_BAD_INPUT;
	if (open_object(object, error, sizeof(error)))
		return EXIT_GOOD;
	say("%s", error);
	return EXIT_BAD_INPUT;
}

int verb_plugin(const struct arguments *arguments)
{
	const char *task = arguments->word_count > 0 ? arguments->words_given[0] : "";
	struct templates templates;
	int code = EXIT_BAD_INPUT;

	if (strcmp(task, "build") == 0 && arguments->word_count > 1) {
		code = EXIT_GOOD;
		for (size_t i = 1; i < arguments->word_count && code == EXIT_GOOD; i++)
			code = build(arguments->words_given[i]);
		return code;
	}
	if (*task && !(strcmp(task, "new") == 0 && arguments->word_count == 3)) {
		say("expected hcasim plugin new KIND NAME, or hcasim plugin build FILE.c");
		return EXIT_BAD_INPUT;
	}
	if (templates_find(&templates, &folder)) {
		if (*task)
			code = new_plugin(&templates, arguments->words_given[1],
					  arguments->words_given[2]);
		else
			templates_list(&templates, arguments->words);
		code = *task ? code : EXIT_GOOD;
	}
	templates_free(&templates);
	return code;
}
