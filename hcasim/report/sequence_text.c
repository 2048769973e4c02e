/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sequence_text: a message sequence chart as text (sequence.h). Each event is a row with its time
 * at its host. A packet's row also has the time of arrival at the other host.
 *
 *     time us   host0                                  host1       time us
 *       2.674   |-- WRITE_ONLY psn 0 4000 B ------------->|          3.002
 *       3.329   |-- WRITE_ONLY psn 2 4000 B ----X         |          lost
 */
#include "hcasim/report/sequence.h"

#include <string.h>

#define ROW_COLUMNS 64 /* columns between the two hosts */

static void fill(char row[ROW_COLUMNS + 1], char with)
{
	memset(row, with, ROW_COLUMNS);
	row[ROW_COLUMNS] = '\0';
}

static void put(char row[ROW_COLUMNS + 1], int at, const char *text)
{
	for (; *text && at < ROW_COLUMNS; text++, at++)
		row[at] = *text;
}

static void print_time(sim_time at, bool there, FILE *out)
{
	if (there)
		fprintf(out, "%13.3f", (double)at / (double)US);
	else
		fprintf(out, "%13s", "");
}

/* The text is beside the sender. A lost packet ends after two thirds. */
static void draw_packet(const struct sequence_event *event, char row[ROW_COLUMNS + 1])
{
	char text[SEQUENCE_TEXT_BYTES + 32];
	bool lost = event->until == SIM_NEVER;
	snprintf(text, sizeof(text), " %s%s ", event->text, event->again ? ", retransmitted" : "");
	int length = (int)strlen(text);
	int end = length + 8 > ROW_COLUMNS * 2 / 3 ? length + 8 : ROW_COLUMNS * 2 / 3;
	fill(row, '-');
	if (event->side == 0) {
		put(row, 2, text);
		put(row, ROW_COLUMNS - 1, ">");
		for (int at = end; lost && at < ROW_COLUMNS; at++)
			row[at] = at == end ? 'X' : ' ';
	} else {
		put(row, ROW_COLUMNS - 2 - length > 1 ? ROW_COLUMNS - 2 - length : 1, text);
		put(row, 0, "<");
		for (int at = 0; lost && at <= ROW_COLUMNS - end; at++)
			row[at] = at == ROW_COLUMNS - end ? 'X' : ' ';
	}
}

static void print_event(const struct sequence_event *event, FILE *out)
{
	char row[ROW_COLUMNS + 1];
	bool packet = event->kind < SEQUENCE_DOORBELL, lost = event->until == SIM_NEVER;
	fill(row, ' ');
	if (packet)
		draw_packet(event, row);
	else
		put(row, event->side == 0 ? 1 : ROW_COLUMNS - 1 - (int)strlen(event->text),
		    event->text);
	if (event->side == 0)
		print_time(event->at, true, out);
	else
		print_time(event->until, packet && !lost, out);
	fprintf(out, " %c%s%c", packet || event->side == 1 ? '|' : '*', row,
		packet || event->side == 0 ? '|' : '*');
	if (event->side == 1)
		print_time(event->at, true, out);
	else
		print_time(event->until, packet && !lost, out);
	fputs(lost ? "  lost\n" : "\n", out);
}

void sequence_print(const struct sequence *sequence, FILE *out)
{
	fprintf(out, "%13s %-*s%s\n", "time us", ROW_COLUMNS + 2 - (int)strlen(sequence->hosts[1]),
		sequence->hosts[0], sequence->hosts[1]);
	for (size_t i = 0; i < sequence->count; i++)
		print_event(&sequence->list[i], out);
}
