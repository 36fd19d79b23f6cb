/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor: looks for what is wrong around bonds, or could be better. Gathers facts (doctor_facts.c),
 * lets all checks judge them (doctor_checks.c) and prints what they found. Changes nothing. What is
 * bad is looked at again, and told if it stays.
 */
#include <stdio.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/doctor/doctor.h"

#define LOOKS 3
#define LOOK_AGAIN_MS 150
#define WATCH_SECONDS 5
#define WATCH_MOST 600

/* What is asked for. */
struct doctor_call {
	const struct cli *cli;
	const char *only;     /* a bond; NULL: all */
	unsigned int seconds; /* to watch the traffic; 0: it is not watched */
	struct doctor_watch *watch;
};

static enum cli_exit doctor_list(const struct cli *cli)
{
	json_t *json = json_array();

	for (const struct doctor_check *check = doctor_checks; check->name; check++) {
		if (!cli->json)
			printf("%-16s%s\n", check->name, check->help);
		json_array_append_new(json, json_pack("{s:s, s:s}", "check", check->name, "healthy",
						      check->help));
	}
	if (cli->json)
		return cli_print_json(json);
	json_decref(json);
	return CLI_DONE;
}

static const char *doctor_text(const json_t *finding, const char *key)
{
	const char *text = json_string_value(json_object_get(finding, key));

	return text ? text : "";
}

/* But for the slave. */
static bool doctor_are_alike(const json_t *left, const json_t *right)
{
	static const char *const keys[] = { "severity", "check", "bond", "finding", "advice" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(doctor_text(left, keys[i]), doctor_text(right, keys[i])) != 0)
			return false;
	return true;
}

/* bad      bond0 eth1, eth2: what was found [check] */
static void doctor_print(const json_t *findings, size_t first)
{
	const json_t *finding = json_array_get(findings, first), *other;
	const char *bond = doctor_text(finding, "bond"), *slave = doctor_text(finding, "slave");

	for (size_t i = 0; i < first; i++)
		if (doctor_are_alike(finding, json_array_get(findings, i)))
			return;
	printf("%-8s %s%s%s", doctor_text(finding, "severity"), bond, *bond && *slave ? " " : "",
	       slave);
	for (size_t i = first + 1; (other = json_array_get(findings, i)); i++)
		if (doctor_are_alike(finding, other))
			printf(", %s", doctor_text(other, "slave"));
	printf("%s%s [%s]\n", *bond || *slave ? ": " : "", doctor_text(finding, "finding"),
	       doctor_text(finding, "check"));
	printf("         %s\n", doctor_text(finding, "advice"));
}

static void doctor_print_seen(const struct doctor_slave *slave)
{
	const struct talk_sums *talk = &slave->seen.talk;
	char name[XBOND_NAME_SIZE], answered[32] = "unknown";

	if (slave->seen.talks_are_known)
		snprintf(answered, sizeof(answered), "%u of %u", talk->answered, talk->asked);
	printf("%-16s %10llu %10llu %10llu  %s\n", cli_name(slave->pin->name, name),
	       (unsigned long long)slave->seen.sent, (unsigned long long)slave->seen.received,
	       (unsigned long long)slave->seen.dropped, answered);
}

/* If it is about one bond. */
static void doctor_print_traffic(const struct doctor_facts *facts)
{
	const struct doctor_bond *only = NULL;
	char head[32];

	for (size_t i = 0; i < facts->bond_count; i++) {
		if (!doctor_is_asked(facts, &facts->bond[i]))
			continue;
		if (only)
			return;
		only = &facts->bond[i];
	}
	if (!only || !only->is_open || !facts->watched_s)
		return;
	snprintf(head, sizeof(head), "packets in %u s", facts->watched_s);
	printf("\n%-16s %10s %10s %10s  %s\n", head, "sent", "received", "dropped",
	       "conversations answered");
	doctor_for_each_slave (slave, only)
		if (slave->seen.is_known)
			doctor_print_seen(slave);
}

static void doctor_print_all(const struct doctor_facts *facts, const json_t *findings)
{
	size_t asked = 0, unjudged = 0;

	for (size_t i = 0; i < json_array_size(findings); i++)
		doctor_print(findings, i);
	if (json_array_size(findings)) {
		doctor_print_traffic(facts);
		return;
	}
	for (size_t i = 0; i < facts->bond_count; i++) {
		const struct doctor_bond *bond = &facts->bond[i];

		asked += doctor_is_asked(facts, bond);
		unjudged += doctor_is_asked(facts, bond) && bond->slave_count &&
			    !doctor_talks_are_known(bond);
	}
	printf("nothing found; %zu bond%s looked at", asked, asked == 1 ? "" : "s");
	if (facts->watched_s)
		printf(", and traffic for %u s", facts->watched_s);
	if (facts->watched_s && unjudged)
		printf(" (it could not see who answers on %zu)", unjudged);
	putchar('\n');
	doctor_print_traffic(facts);
}

static enum cli_exit doctor_status(const struct doctor_report *report)
{
	if (json_array_size(report->findings[DOCTOR_BAD]))
		return CLI_BAD;
	return json_array_size(report->findings[DOCTOR_WARNING]) ? CLI_WARNINGS : CLI_DONE;
}

static enum cli_exit doctor_tell(const struct cli *cli, const struct doctor_facts *facts,
				 const struct doctor_report *report)
{
	enum cli_exit status = doctor_status(report);
	json_t *findings = doctor_report_json(report);

	if (cli->json)
		return cli_print_json(findings) == CLI_DONE ? status : CLI_REFUSED;
	doctor_print_all(facts, findings);
	json_decref(findings);
	return status;
}

static bool doctor_look(const struct doctor_call *call, struct doctor_facts *ret_facts,
			struct doctor_report *ret_report)
{
	struct err err;

	doctor_report_init(ret_report);
	if (doctor_gather(&call->cli->paths, call->only, ret_facts, &err)) {
		cli_refuse(&err);
		return false;
	}
	doctor_watch_tell(call->watch, ret_facts);
	doctor_run(ret_facts, ret_report);
	return true;
}

static bool doctor_look_again(const struct doctor_call *call, struct doctor_facts *facts,
			      struct doctor_report *report)
{
	struct doctor_report before = *report;
	bool sees;

	usleep(LOOK_AGAIN_MS * 1000);
	doctor_facts_free(facts);
	sees = doctor_look(call, facts, report);
	if (sees)
		doctor_report_confirm(report, &before);
	doctor_report_done(&before);
	return sees;
}

/* For the bonds that are there now. Without them, what is wrong is told by the looks that follow.
 */
static void doctor_watch_traffic(struct doctor_call *call)
{
	struct doctor_facts facts;
	struct err err;

	if (!call->seconds)
		return;
	if (!doctor_gather(&call->cli->paths, call->only, &facts, &err)) {
		if (!call->cli->json && isatty(STDERR_FILENO))
			fprintf(stderr, "watching the traffic for %u s...\n", call->seconds);
		call->watch = doctor_watch_new(&facts, call->seconds);
	}
	doctor_facts_free(&facts);
}

/* A bond that is being created or deleted is not as it should be for a moment. */
static enum cli_exit doctor_examine(struct doctor_call *call)
{
	enum cli_exit status = CLI_REFUSED;
	struct doctor_report report;
	struct doctor_facts facts;
	bool sees;

	doctor_watch_traffic(call);
	sees = doctor_look(call, &facts, &report);
	for (int i = 1; sees && doctor_status(&report) == CLI_BAD && i < LOOKS; i++)
		sees = doctor_look_again(call, &facts, &report);
	if (sees)
		status = doctor_tell(call->cli, &facts, &report);
	doctor_report_done(&report);
	doctor_facts_free(&facts);
	doctor_watch_free(call->watch);
	return status;
}

enum cli_exit cmd_doctor(const struct cli *cli, const struct verb *verb, int argc, char **argv)
{
	struct doctor_call call = { .cli = cli, .only = argc ? argv[0] : NULL };
	unsigned long long seconds = WATCH_SECONDS;

	if (cli_flag(cli, verb, "--list"))
		return argc ? cli_usage(verb, "unexpected '%s'", argv[0]) : doctor_list(cli);
	if (cli_number(cli, verb, "--seconds", WATCH_MOST, &seconds))
		return CLI_USAGE;
	call.seconds = cli_flag(cli, verb, "--no-traffic") ? 0 : (unsigned int)seconds;
	return doctor_examine(&call);
}
