/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs the scenarios of a file; README.md describes the verbs. A line is `verb word...`; `#` begins
 * a comment. Options of systems and ports are in options.c, conditions in conditions.c.
 */
#include "tests/sim/scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int index_of(struct scenario *scenario, char name)
{
	for (int i = 0; i < SYSTEMS; i++)
		if (scenario->world.system[i].exists && scenario->world.system[i].name == name)
			return i;
	scenario_wrong(scenario, "no such system");
	return 0;
}

void scenario_wrong(struct scenario *scenario, const char *what)
{
	world_fail(&scenario->world, "line %u: %s", scenario->line, what);
}

struct system *scenario_system(struct scenario *scenario, const char *word)
{
	return &scenario->world.system[index_of(scenario, word[0])];
}

struct end scenario_end(struct scenario *scenario, const char *word)
{
	struct end end = { .system = index_of(scenario, word[0]) };
	int number = word[0] && word[1] == '.' ? atoi(word + 2) : 0;

	if (number < 1 || (unsigned int)number > scenario->world.system[end.system].ports)
		scenario_wrong(scenario, "no such port");
	else
		end.slot = (unsigned int)number - 1;
	return end;
}

static uint64_t duration(struct scenario *scenario, const char *word)
{
	char *unit;
	double value = strtod(word, &unit);

	if (!strcmp(unit, "s"))
		return (uint64_t)(value * 1e9);
	if (!strcmp(unit, "ms"))
		return (uint64_t)(value * 1e6);
	scenario_wrong(scenario, "a time is a number and s or ms");
	return 0;
}

static void verb_system(struct scenario *scenario, char **words, int count)
{
	struct lacp_config config = lacp_config_default();
	int index = 0;

	while (index < SYSTEMS - 1 && scenario->world.system[index].exists)
		index++;
	config.system[0] = 0x02;
	config.system[5] = (uint8_t)words[0][0];
	for (int i = 2; i + 1 < count; i += 2)
		scenario_option(scenario, &config, words[i], words[i + 1]);
	world_system(&scenario->world, index, words[0][0], (unsigned int)atoi(words[1]), &config);
}

static void verb_set(struct scenario *scenario, char **words, int count)
{
	int index = index_of(scenario, words[0][0]);
	struct lacp_config config = scenario->world.system[index].lacp.state.config;

	for (int i = 1; i + 1 < count; i += 2)
		scenario_option(scenario, &config, words[i], words[i + 1]);
	world_configure(&scenario->world, index, &config);
}

static void verb_port(struct scenario *scenario, char **words, int count)
{
	struct end end = scenario_end(scenario, words[0]);
	struct lacp_port_config config = scenario->world.system[end.system].port[end.slot].config;

	for (int i = 1; i + 1 < count; i += 2)
		scenario_port_option(scenario, &config, words[i], words[i + 1]);
	world_port_configure(&scenario->world, end, &config);
}

static void verb_cable(struct scenario *scenario, char **words, int count)
{
	for (int i = 0; i + 1 < count; i += 2)
		world_cable(&scenario->world, scenario_end(scenario, words[i]),
			    scenario_end(scenario, words[i + 1]), MS);
}

static void verb_swap(struct scenario *scenario, char **words, int count)
{
	world_swap(&scenario->world, scenario_end(scenario, words[0]),
		   scenario_end(scenario, words[1]));
}

static void verb_cross(struct scenario *scenario, char **words, int count)
{
	world_cross(&scenario->world, scenario_end(scenario, words[0]),
		    scenario_end(scenario, words[1]));
}

static void verb_loss(struct scenario *scenario, char **words, int count)
{
	for (int i = 1; i < count; i++)
		world_loss(&scenario->world, scenario_end(scenario, words[i]),
			   (unsigned int)atoi(words[0]));
}

static void verb_lose(struct scenario *scenario, char **words, int count)
{
	for (int i = 1; i < count; i++)
		world_lose(&scenario->world, scenario_end(scenario, words[i]),
			   (unsigned int)atoi(words[0]));
}

static void hold_down(struct scenario *scenario, char **words, int count, bool held)
{
	uint64_t slots = 0;

	for (int i = 0; i < count; i++)
		slots |= 1ull << scenario_end(scenario, words[i]).slot;
	world_hold_down(&scenario->world, index_of(scenario, words[0][0]), slots, held);
}

static void verb_bad(struct scenario *scenario, char **words, int count)
{
	hold_down(scenario, words, count, true);
}

static void verb_good(struct scenario *scenario, char **words, int count)
{
	hold_down(scenario, words, count, false);
}

static void verb_drain(struct scenario *scenario, char **words, int count)
{
	for (int i = 0; i < count; i++)
		if (world_drain(&scenario->world, scenario_end(scenario, words[i])))
			scenario_wrong(scenario, "drain refused");
}

static void verb_run(struct scenario *scenario, char **words, int count)
{
	world_run(&scenario->world, duration(scenario, words[0]));
}

static void verb_expect(struct scenario *scenario, char **words, int count)
{
	if (!scenario_holds(scenario, words, count))
		scenario_wrong(scenario, "not so");
}

/* Runs until the condition holds. */
static void verb_within(struct scenario *scenario, char **words, int count)
{
	struct world *world = &scenario->world;
	uint64_t limit_ns = world->now_ns + duration(scenario, words[0]);

	while (!world->failed && !scenario_holds(scenario, words + 1, count - 1)) {
		if (world_step(world, limit_ns) || world->failed)
			continue;
		if (!scenario_holds(scenario, words + 1, count - 1))
			scenario_wrong(scenario, "not in time");
		return;
	}
}

/* The condition holds after every step. */
static void verb_throughout(struct scenario *scenario, char **words, int count)
{
	uint64_t limit_ns = scenario->world.now_ns + duration(scenario, words[0]);

	do
		if (!scenario_holds(scenario, words + 1, count - 1))
			scenario_wrong(scenario, "not throughout");
	while (!scenario->world.failed && world_step(&scenario->world, limit_ns));
}

static const struct verb {
	const char *name;
	int least; /* words behind it */
	void (*act)(struct scenario *scenario, char **words, int count);
	/* Or what it is for each word. */
	void (*system)(struct world *world, int index);
	void (*system_is)(struct world *world, int index, bool is);
	void (*port)(struct world *world, struct end end);
	void (*port_is)(struct world *world, struct end end, bool is);
	bool is;
} verbs[] = {
	{ "system", 2, .act = verb_system },
	{ "set", 3, .act = verb_set },
	{ "port", 3, .act = verb_port },
	{ "cable", 2, .act = verb_cable },
	{ "swap", 2, .act = verb_swap },
	{ "cross", 2, .act = verb_cross },
	{ "loss", 2, .act = verb_loss },
	{ "cut", 1, .port_is = world_cut, .is = true },
	{ "mend", 1, .port_is = world_cut },
	{ "away", 1, .system = world_away },
	{ "back", 1, .system = world_back },
	{ "remove", 1, .port = world_port_remove },
	{ "add", 1, .port = world_port_add },
	{ "drain", 1, .act = verb_drain },
	{ "run", 1, .act = verb_run },
	{ "expect", 2, .act = verb_expect },
	{ "within", 3, .act = verb_within },
	{ "throughout", 3, .act = verb_throughout },
	{ "newer", 1, .system = world_newer },
	{ "doom", 1, .system = world_doom },
	{ "stop", 1, .system_is = world_stop, .is = true },
	{ "start", 1, .system_is = world_stop },
	{ "lose", 2, .act = verb_lose },
	{ "individual", 1, .system = world_individual },
	{ "bad", 1, .act = verb_bad },
	{ "good", 1, .act = verb_good },
	{ "reference", 1, .system = world_reference },
};

static void act_on(struct scenario *scenario, const struct verb *verb, const char *word)
{
	struct world *world = &scenario->world;
	bool of_port = verb->port || verb->port_is;
	struct end end = of_port ? scenario_end(scenario, word) : (struct end){ 0 };
	int index = of_port ? end.system : index_of(scenario, word[0]);

	if (world->failed)
		return;
	if (verb->port)
		verb->port(world, end);
	else if (verb->port_is)
		verb->port_is(world, end, verb->is);
	else if (verb->system)
		verb->system(world, index);
	else
		verb->system_is(world, index, verb->is);
}

static void act(struct scenario *scenario, char **words, int count)
{
	for (unsigned int i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
		if (strcmp(verbs[i].name, words[0]) != 0)
			continue;
		if (count - 1 < verbs[i].least)
			break;
		if (verbs[i].act)
			verbs[i].act(scenario, words + 1, count - 1);
		for (int word = 1; !verbs[i].act && word < count; word++)
			act_on(scenario, &verbs[i], words[word]);
		return;
	}
	scenario_wrong(scenario, "not understood");
}

static void run_line(struct scenario *scenario, char *line)
{
	char *words[WORDS], *rest = NULL;
	int count = 0;

	line[strcspn(line, "#\n")] = '\0';
	if (scenario->world.verbose)
		printf("%3u  %s\n", scenario->line, line);
	for (char *word = strtok_r(line, " \t", &rest); word && count < WORDS;
	     word = strtok_r(NULL, " \t", &rest))
		words[count++] = word;
	if (count)
		act(scenario, words, count);
}

/* Tells of the failure of what ran until here. */
static int scenario_ended(struct scenario *scenario, const char *path)
{
	if (scenario->world.failed)
		printf("%s%s%s: %s (after line %u)\n", path, *scenario->name ? ":" : "",
		       scenario->name, scenario->world.failure, scenario->line);
	return scenario->world.failed;
}

static void scenario_begins(struct scenario *scenario, const char *name, bool verbose)
{
	world_init(&scenario->world, 1);
	scenario->world.verbose = verbose;
	snprintf(scenario->name, sizeof(scenario->name), "%s", name);
}

int scenario_run(const char *path, const char *only, bool verbose)
{
	static struct scenario scenario;
	char line[400], name[sizeof(scenario.name)];
	FILE *file = fopen(path, "r");
	bool wanted = !only, found = !only;
	int failures = 0;

	if (!file) {
		printf("%s: cannot be read\n", path);
		return 1;
	}
	scenario_begins(&scenario, "", verbose);
	for (unsigned int number = 1; fgets(line, sizeof(line), file); number++) {
		if (sscanf(line, "scenario %39s", name) == 1) {
			failures += scenario_ended(&scenario, path);
			scenario_begins(&scenario, name, verbose);
			wanted = !only || !strcmp(only, name);
			found |= wanted;
		} else if (wanted && !scenario.world.failed) {
			scenario.line = number;
			run_line(&scenario, line);
		}
	}
	failures += scenario_ended(&scenario, path);
	fclose(file);
	if (!found)
		printf("%s: there is no scenario %s\n", path, only);
	return failures + !found;
}
