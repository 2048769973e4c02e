/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep_database: DIR/results.db, the tables of a sweep in one SQLite database.
 *
 *     results, means, bins, bin_means   as the CSV files of these names
 *     costs          as cost.csv; depends on the machine
 *     configuration  path, value: the effective configuration of the first point
 *     parameters     point, path, value: values of a point that differ from `configuration`;
 *                    NULL if the point does not have the path
 *     provenance     key, value: version, scenario, machine, time
 *
 * All tables but costs and provenance are equal in each sweep of the same scenario, after any
 * number of interruptions.
 */
#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "analysis/table.h"
#include "hcasim/command/sweep.h"
#include "hcasim/report/run_values.h"

#define SQL_BYTES 65536
#define NO_POINT  SIZE_MAX

struct database {
	const struct sweep *sweep;
	sqlite3 *handle;
	bool failed; /* the first failure has been printed */
};

static bool fail(struct database *database, const char *what)
{
	if (!database->failed)
		say("%s/results.db: %s: %s", database->sweep->folder, what,
		    sqlite3_errmsg(database->handle));
	database->failed = true;
	return false;
}

static bool execute(struct database *database, const char *sql)
{
	return sqlite3_exec(database->handle, sql, NULL, NULL, NULL) == SQLITE_OK ||
	       fail(database, sql);
}

/* Binds a text, as a number if it is one. An empty text is NULL. */
static void bind(sqlite3_stmt *statement, int place, const char *text, bool may_be_number)
{
	char *end;
	double number = text ? strtod(text, &end) : 0;
	if (!text || *text == '\0')
		sqlite3_bind_null(statement, place);
	else if (!may_be_number || *end != '\0' || !isfinite(number))
		sqlite3_bind_text(statement, place, text, -1, SQLITE_TRANSIENT);
	else if (strpbrk(text, ".eExX") || fabs(number) > 1e15)
		sqlite3_bind_double(statement, place, number);
	else
		sqlite3_bind_int64(statement, place, (sqlite3_int64)number);
}

/* Inserts one row. The names of points are texts, even if they consist of digits. */
static bool insert(struct database *database, sqlite3_stmt *statement, const char *const *texts,
		   size_t count, size_t point_column)
{
	for (size_t i = 0; i < count; i++)
		bind(statement, (int)i + 1, texts[i], i != point_column);
	bool good = sqlite3_step(statement) == SQLITE_DONE;
	sqlite3_reset(statement);
	return good || fail(database, "insert");
}

static sqlite3_stmt *prepare_insert(struct database *database, const char *table, size_t columns)
{
	char sql[SQL_BYTES];
	sqlite3_stmt *statement = NULL;
	int length = snprintf(sql, sizeof(sql), "INSERT INTO %s VALUES (?", table);
	for (size_t i = 1; i < columns && length < SQL_BYTES - 8; i++)
		length += snprintf(sql + length, sizeof(sql) - (size_t)length, ",?");
	snprintf(sql + length, sizeof(sql) - (size_t)length, ")");
	if (sqlite3_prepare_v2(database->handle, sql, -1, &statement, NULL) != SQLITE_OK)
		fail(database, sql);
	return statement;
}

/* Creates a table with the columns of the CSV file. Columns have no type, so that numbers are
 * numbers and texts are texts. */
static bool create(struct database *database, const char *name, const struct table *table)
{
	sqlite3_str *sql = sqlite3_str_new(database->handle);
	sqlite3_str_appendf(sql, "CREATE TABLE %s (", name);
	for (size_t i = 0; i < table->columns; i++)
		sqlite3_str_appendf(sql, "%s\"%w\"", i > 0 ? ", " : "", table->names[i]);
	sqlite3_str_appendall(sql, ")");
	char *text = sqlite3_str_finish(sql);
	bool good = text && execute(database, text);
	sqlite3_free(text);
	return good;
}

static bool add_rows(struct database *database, const char *name, const struct table *table)
{
	const char **texts = calloc(table->columns + 1, sizeof(*texts));
	sqlite3_stmt *statement = prepare_insert(database, name, table->columns);
	bool good = statement;
	if (!texts)
		abort();
	for (size_t row = 0; good && row < table->rows; row++) {
		for (size_t i = 0; i < table->columns; i++)
			texts[i] = table_cell(table, row, i);
		good = insert(database, statement, texts, table->columns,
			      table_column(table, "point"));
	}
	sqlite3_finalize(statement);
	free(texts);
	return good;
}

/* Adds a CSV file of the sweep's folder as a table. A file that is not there gives none. */
static bool add_table(struct database *database, const char *file, const char *name)
{
	char path[PATH_MAX], error[PATH_MAX + 128];
	snprintf(path, sizeof(path), "%.3000s/%s", database->sweep->folder, file);
	if (access(path, F_OK) != 0)
		return true;
	struct table *table = table_read(path, error, sizeof(error));
	if (!table) {
		say("%s", error);
		database->failed = true;
		return false;
	}
	bool good = create(database, name, table) && add_rows(database, name, table);
	table_free(table);
	return good;
}

/* Reads the effective configuration of a point. Returns false, having printed why, on failure. */
static bool read_configuration(struct database *database, size_t point, struct values *values)
{
	char path[PATH_MAX];
	struct yaml_errors errors = {0};
	sweep_resume_path(database->sweep, point, "/scenario.yaml", path);
	struct yaml_document *document = yaml_read_file(path, &errors);
	yaml_errors_print(&errors, stderr);
	yaml_errors_free(&errors);
	if (!document) {
		database->failed = true;
		return false;
	}
	run_values_add_tree(values, "", yaml_root(document));
	yaml_close(document);
	return true;
}

static bool add_parameters(struct database *database, sqlite3_stmt *statement, size_t point,
			   const struct values *first)
{
	struct values values = {0};
	struct difference *list = NULL;
	bool good = read_configuration(database, point, &values);
	size_t count = good ? differences_find(first, &values, 0, &list) : 0;
	for (size_t i = 0; good && i < count; i++) {
		const char *const texts[] = {database->sweep->points[point].name, list[i].name,
					     list[i].texts[1]};
		good = insert(database, statement, texts, ARRAY_SIZE(texts), 0);
	}
	differences_free(list, count);
	differences_free_values(&values);
	return good;
}

static bool add_configurations(struct database *database)
{
	const struct sweep *sweep = database->sweep;
	struct values first = {0};
	size_t base = 0;
	bool good = execute(database, "CREATE TABLE configuration (path, value)") &&
		    execute(database, "CREATE TABLE parameters (point, path, value)");
	while (base < sweep->count && !sweep->points[base].finished)
		base++;
	if (!good || base == sweep->count)
		return good;
	sqlite3_stmt *statement = prepare_insert(database, "configuration", 2);
	good = statement && read_configuration(database, base, &first);
	for (size_t i = 0; good && i < first.count; i++) {
		const char *const texts[] = {first.list[i].name, first.list[i].text};
		good = insert(database, statement, texts, ARRAY_SIZE(texts), NO_POINT);
	}
	sqlite3_finalize(statement);
	statement = prepare_insert(database, "parameters", 3);
	for (size_t i = base; good && statement && i < sweep->count; i++)
		good = !sweep->points[i].finished || add_parameters(database, statement, i, &first);
	sqlite3_finalize(statement);
	differences_free_values(&first);
	return good;
}

static bool add_provenance(struct database *database)
{
	struct utsname machine = {0};
	char now[32], points[32];
	time_t seconds = time(NULL);
	uname(&machine);
	strftime(now, sizeof(now), "%Y-%m-%dT%H:%M:%SZ", gmtime(&seconds));
	snprintf(points, sizeof(points), "%zu of %zu", database->sweep->done,
		 database->sweep->count);
	const char *const rows[][2] = {
		{"program", "hcasim"},
		{"version", HCASIM_VERSION},
		{"scenario", database->sweep->scenario->file},
		{"points", points},
		{"machine", machine.machine},
		{"system", machine.sysname},
		{"release", machine.release},
		{"written", now},
	};
	if (!execute(database, "CREATE TABLE provenance (key, value)"))
		return false;
	sqlite3_stmt *statement = prepare_insert(database, "provenance", 2);
	bool good = statement;
	for (size_t i = 0; good && i < ARRAY_SIZE(rows); i++)
		good = insert(database, statement, rows[i], 2, NO_POINT);
	for (size_t i = 0; good && i < database->sweep->arguments->override_count; i++) {
		const char *const row[] = {"--set", database->sweep->arguments->overrides[i]};
		good = insert(database, statement, row, 2, NO_POINT);
	}
	sqlite3_finalize(statement);
	return good;
}

static bool fill(struct database *database)
{
	return execute(database, "BEGIN") && add_table(database, "results.csv", "results") &&
	       add_table(database, "means.csv", "means") &&
	       add_table(database, "bins.csv", "bins") &&
	       add_table(database, "bin_means.csv", "bin_means") &&
	       add_table(database, "cost.csv", "costs") && add_configurations(database) &&
	       add_provenance(database) && execute(database, "COMMIT");
}

bool sweep_database_write(const struct sweep *sweep)
{
	struct database database = {.sweep = sweep};
	char path[PATH_MAX], part[PATH_MAX + 8];
	snprintf(path, sizeof(path), "%.3000s/results.db", sweep->folder);
	snprintf(part, sizeof(part), "%s" SWEEP_PART, path);
	unlink(part);
	bool good = sqlite3_open(part, &database.handle) == SQLITE_OK || fail(&database, "open");
	good = good && execute(&database, "PRAGMA journal_mode = OFF") &&
	       execute(&database, "PRAGMA synchronous = OFF") && fill(&database);
	if (sqlite3_close(database.handle) != SQLITE_OK)
		good = false;
	if (good && rename(part, path) == 0)
		return true;
	if (good)
		say("%s: %s", path, strerror(errno));
	unlink(part);
	return false;
}
