/* SPDX-License-Identifier: GPL-2.0-or-later */
/* BOND.conf: what is read, and that every mistake is named by its line. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options/config_file.h"
#include "tests/unit/unit.h"

static char path[32];

static int make_file(void **state)
{
	int fd;

	strcpy(path, "/tmp/xbond-config-XXXXXX");
	fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	return unlink(path);
}

static int read_text(const char *text, struct config_file *ret_file, struct err *err)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	return config_file_read_or_err(ret_file, path, err);
}

static void expect_error(const char *text, int line, const char *words)
{
	struct config_file file;
	struct err err = { "" };
	char where[64];

	assert_int_equal(read_text(text, &file, &err), -EINVAL);
	snprintf(where, sizeof(where), "%s:%d: ", path, line);
	assert_memory_equal(err.text, where, strlen(where));
	assert_non_null(strstr(err.text, words));
}

TEST(a_whole_file, make_file, remove_file)
{
	struct config_file file;

	assert_int_equal(read_text("# a bond\n[bond]\nmode = active-backup\nprimary = eth1\n\n"
				   "[slave eth0]\n[slave eth1]\nweight = 7 ; odd\ndrain = on\n",
				   &file, NULL),
			 0);
	assert_int_equal(file.bond.value[OPT_MODE].number, XBOND_MODE_ACTIVE_BACKUP);
	assert_string_equal(file.bond.value[OPT_PRIMARY].name, "eth1");
	assert_false(file.bond.given[OPT_MIIMON]);
	assert_int_equal(file.slave_count, 2);
	assert_string_equal(file.slaves[0].name, "eth0");
	assert_false(file.slaves[0].options.given[OPT_WEIGHT]);
	assert_string_equal(file.slaves[1].name, "eth1");
	assert_int_equal(file.slaves[1].options.value[OPT_WEIGHT].number, 7);
	assert_int_equal(file.slaves[1].options.value[OPT_DRAIN].number, 1);
	config_file_free(&file);
}

TEST(long_lines, make_file, remove_file)
{
	struct config_file file;
	char text[1024];

	snprintf(text, sizeof(text), "# %0300d\n   # %0300d\n[bond]\nmode = broadcast\n", 1, 2);
	assert_int_equal(read_text(text, &file, NULL), 0);
	assert_int_equal(file.bond.value[OPT_MODE].number, XBOND_MODE_BROADCAST);
	config_file_free(&file);
	snprintf(text, sizeof(text),
		 "# %0400d\n[bond]\nmode = broadcast%200s = yes\nmiimon = none\n", 1,
		 "lacp_active");
	expect_error(text, 3, "longer than 198 characters");
	for (int length = 196; length <= 198; length++) {
		snprintf(text, sizeof(text), "# %0*d\n[bond]\ncolour = red\n", length, 1);
		expect_error(text, 3, "colour");
	}
}

TEST(lists_over_several_lines, make_file, remove_file)
{
	const struct option_value *value;
	struct config_file file;

	assert_int_equal(read_text("[bond]\narp_ip_target = 192.0.2.1,192.0.2.2\n"
				   "arp_ip_target = 192.0.2.3\n",
				   &file, NULL),
			 0);
	value = &file.bond.value[OPT_ARP_IP_TARGET];
	assert_memory_equal(value->address[2], "\xc0\x00\x02\x03", 4);
	assert_int_equal(value->address[3][0], 0);
	config_file_free(&file);
	expect_error("[bond]\nns_ip6_target = fe80::1\nns_ip6_target = fe80::1\n", 3, "twice");
	expect_error("[bond]\nmiimon = 50\nmiimon = 50\n", 3, "twice");
}

static void read_bytes(const char *bytes, size_t size, int line)
{
	struct config_stream stream = { fmemopen((void *)(uintptr_t)bytes, size, "r"), "bytes" };
	struct config_mistakes mistakes;
	struct config_file file;
	char where[16];

	snprintf(where, sizeof(where), "bytes:%d: ", line);
	assert_int_equal(config_file_read_streams(&file, &stream, 1, &mistakes), -EINVAL);
	assert_memory_equal(mistakes.list[0].text, where, strlen(where));
	assert_non_null(strstr(mistakes.list[0].text, "NUL"));
	config_mistakes_free(&mistakes);
}

TEST(lines_with_nul, make_file, remove_file)
{
	static const char first[] = "[bond]\n\0\nmode = broadcast\n";
	static const char middle[] = "# note\n[bond]\nmode = \0broadcast\n[slave eth0]\n";

	read_bytes(first, sizeof(first) - 1, 2);
	read_bytes(middle, sizeof(middle) - 1, 3);
}

TEST(indented_lines, make_file, remove_file)
{
	struct config_file file;

	assert_int_equal(read_text("  [bond]\n\tmode = active-backup\n\tmiimon = 50\n [slave "
				   "eth0]\n  weight = 2\n",
				   &file, NULL),
			 0);
	assert_int_equal(file.bond.value[OPT_MIIMON].number, 50);
	assert_int_equal(file.slaves[0].options.value[OPT_WEIGHT].number, 2);
	config_file_free(&file);
}

TEST(a_file_without_a_bond, make_file, remove_file)
{
	struct config_file file;
	struct err err;

	assert_int_equal(read_text("[bond]\n", &file, NULL), 0);
	assert_int_equal(file.slave_count, 0);
	config_file_free(&file);
	expect_error("", 1, "[bond]");
	expect_error("[slave eth0]\n", 1, "[bond]");
	assert_int_equal(config_file_read_or_err(&file, "/tmp", &err), -EINVAL);
}

TEST(mistakes_are_named_by_line, make_file, remove_file)
{
	expect_error("[bond]\nmode = balance-rr\ncolour = red\n", 3, "colour");
	expect_error("[bond]\nmiimon = 0\n", 2, "miimon");
	expect_error("\n[bonds]\nmode = 1\n", 2, "[bonds]");
	expect_error("[bond]\nmode = 1\nmode = 2\n", 3, "twice");
	expect_error("[bond]\nwhat is this\n", 2, "neither");
	expect_error("[bond]\npackets_per_slave = 3\n\nmode = balance-xor\n", 2,
		     "packets_per_slave");
	expect_error("[slave eth0]\nmiimon = 5\n", 2, "miimon");
	expect_error("[slave a name far too long]\n", 1, "too long");
	expect_error("[slave eth0]\nforce = yes\n", 2, "command line");
	expect_error("[bond]\nmode = 1\nactive_slave = eth0\n", 3, "command line");
	expect_error("mode = 1\n", 1, "unknown section");
	expect_error("[bond]\nmode = balance-rr\nfoo\nbar = 1\n", 3, "neither");
}

TEST(a_missing_file, make_file, remove_file)
{
	struct config_file file;
	struct err err;

	assert_int_equal(config_file_read_or_err(&file, "/nonexistent/bond0.conf", &err), -ENOENT);
}

/* texts: ends with NULL; the first one is the file, the others are its drop-ins. */
static int read_layers(const char *const *texts, struct config_file *ret_file,
		       struct config_mistakes *ret_mistakes)
{
	static const char *const names[] = { "main", "a", "b", "c" };
	struct config_stream streams[4];
	size_t count = 0;

	for (; texts[count]; count++) {
		streams[count].stream =
			fmemopen((void *)(uintptr_t)texts[count], strlen(texts[count]), "r");
		streams[count].name = names[count];
	}
	return config_file_read_streams(ret_file, streams, count, ret_mistakes);
}

TEST(slaves_by_mac, make_file, remove_file)
{
	struct config_file file;
	char text[MAC_FORMAT_SIZE];

	assert_int_equal(read_text("[bond]\n[slave 02:00:5E:10:00:0a]\nweight = 3\n[slave eth0]\n"
				   "[slave 02:00:5e:10:00:0a]\ndrain = on\n",
				   &file, NULL),
			 0);
	assert_int_equal(file.slave_count, 2);
	assert_true(config_slave_is_by_mac(&file.slaves[0]));
	assert_string_equal(config_slave_name(&file.slaves[0], text), "02:00:5e:10:00:0a");
	assert_int_equal(file.slaves[0].options.value[OPT_WEIGHT].number, 3);
	assert_true(file.slaves[0].options.given[OPT_DRAIN]);
	assert_string_equal(config_slave_name(&file.slaves[1], text), "eth0");
	config_file_free(&file);
	expect_error("[bond]\n[slave 01:00:5e:00:00:01]\n", 2, "multicast");
	expect_error("[bond]\n[slave 00:00:00:00:00:00]\n", 2, "no device");
	expect_error("[bond]\n[slave eth0:1]\n", 2, "neither");
}

TEST(drop_ins, make_file, remove_file)
{
	const char *const texts[] = {
		"[bond]\nmode = 1\nmiimon = 50\narp_ip_target = 192.0.2.1\nnum_unsol_na = 3\n"
		"hash_seed = 7\n[slave eth0]\nprio = 1\n",
		"[bond]\nmiimon = 60\narp_ip_target = 192.0.2.2\nnum_grat_arp = 4\n",
		"[slave eth1]\n[slave eth0]\nprio = 2\n[bond]\nhash_seed = random\n", NULL
	};
	struct config_mistakes mistakes;
	struct config_file file;

	assert_int_equal(read_layers(texts, &file, &mistakes), 0);
	assert_int_equal(file.bond.value[OPT_MIIMON].number, 60);
	assert_string_equal(file.at[OPT_MIIMON].path, "a");
	assert_memory_equal(file.bond.value[OPT_ARP_IP_TARGET].address[0], "\xc0\x00\x02\x02", 4);
	assert_int_equal(file.bond.value[OPT_ARP_IP_TARGET].address[1][0], 0);
	assert_true(file.bond.given[OPT_NUM_GRAT_ARP]);
	assert_false(file.bond.given[OPT_NUM_UNSOL_NA]);
	assert_false(file.bond.given[OPT_HASH_SEED]);
	assert_int_equal(file.slave_count, 2);
	assert_int_equal(file.slaves[0].options.value[OPT_PRIO].number, 2);
	config_file_free(&file);
	config_mistakes_free(&mistakes);
}

static void expect_mistake(const struct config_mistakes *mistakes, size_t i, const char *begin,
			   const char *words)
{
	assert_true(i < mistakes->count);
	assert_memory_equal(mistakes->list[i].text, begin, strlen(begin));
	assert_non_null(strstr(mistakes->list[i].text, words));
}

/* The folder's path has room for "/./" many times, but then a long name does not fit behind it. */
TEST(a_drop_in_with_too_long_a_path, make_file, remove_file)
{
	char dir[64], drop_in[256], deep[PATH_MAX];
	size_t length = PATH_MAX - 100;
	struct config_file file;
	struct err err;

	assert_int_equal(read_text("[bond]\nmode = 802.3ad\n", &file, NULL), 0);
	config_file_free(&file);
	snprintf(dir, sizeof(dir), "%s" CONFIG_DROP_INS_SUFFIX, path);
	snprintf(drop_in, sizeof(drop_in), "%s/%0100d.conf", dir, 1);
	assert_int_equal(mkdir(dir, 0700), 0);
	fclose(fopen(drop_in, "w"));
	for (size_t at = 0; at < length; at += 2)
		memcpy(deep + at, "/.", 2);
	snprintf(deep + length, sizeof(deep) - length, "%s", path);
	assert_int_equal(config_file_read_or_err(&file, deep, &err), -ENAMETOOLONG);
	assert_non_null(strstr(err.text, "too long"));
	unlink(drop_in);
	rmdir(dir);
}

TEST(a_mistake_behind_all_warnings, make_file, remove_file)
{
	const struct config_place place = { "main", 0, 0 };
	struct config_mistakes mistakes = { 0 };
	struct err err;

	for (int i = 0; i < CONFIG_MISTAKES_MAX; i++)
		config_mistakes_warn(&mistakes, place, "warning %d", i);
	config_mistakes_add(&mistakes, place, "mistake");
	assert_int_equal(config_mistakes_first(&mistakes, EINVAL, &err), -EINVAL);
	assert_non_null(strstr(err.text, "after 200 warnings"));
	config_mistakes_free(&mistakes);
}

TEST(all_mistakes_are_named, make_file, remove_file)
{
	const char *const texts[] = { "[bond]\nmode = 802.3ad\nprimary = eth0\nmimon = 5\nwhat\n"
				      "lacp_rate = quick\n[slaves]\nweight = 1\n",
				      "[bond]\nxdp_tx = on\n[slave e\033[31m]\n"
				      "[slave eth0]\nweight = 0\n",
				      "[bond]\ndevice = netkit\nmax_links = 65\n", NULL };
	struct config_mistakes mistakes;
	struct config_file file;

	assert_int_equal(read_layers(texts, &file, &mistakes), -EINVAL);
	expect_mistake(&mistakes, 0, "main:3: ", "primary: refused in mode 802.3ad");
	expect_mistake(&mistakes, 1, "main:4: ", "did you mean miimon?");
	expect_mistake(&mistakes, 2, "main:5: ", "neither");
	expect_mistake(&mistakes, 3, "main:6: ", "slow|fast");
	expect_mistake(&mistakes, 4, "main:7: ", "[slaves]");
	expect_mistake(&mistakes, 5, "a:3: ", "control character");
	expect_mistake(&mistakes, 6, "a:5: ", "weight");
	expect_mistake(&mistakes, 7, "b:2: ", "netkit has no XDP");
	expect_mistake(&mistakes, 8, "b:3: ", "0..64");
	assert_int_equal(mistakes.count, 9);
	assert_int_equal(mistakes.errors, 9);
	config_mistakes_free(&mistakes);
}

TEST(a_file_full_of_mistakes, make_file, remove_file)
{
	struct config_mistakes mistakes;
	struct config_file file;
	char text[8000] = "";
	const char *const texts[] = { text, NULL };

	for (int i = 0; i < 1000; i++)
		strcat(text + 7 * i, "[x] = \n");
	assert_int_equal(read_layers(texts, &file, &mistakes), -EINVAL);
	assert_int_equal(mistakes.count, CONFIG_MISTAKES_MAX);
	assert_int_equal(mistakes.left_out, 1000 - CONFIG_MISTAKES_MAX);
	config_mistakes_free(&mistakes);
}

TEST(too_many_slaves, make_file, remove_file)
{
	struct config_file file;
	struct err err = { "" };
	char text[8000] = "[bond]\n";

	for (int i = 0; i <= XBOND_MAX_SLAVES; i++)
		snprintf(text + strlen(text), 32, "[slave eth%d]\n", i);
	assert_int_equal(read_text(text, &file, &err), -EINVAL);
	assert_non_null(strstr(err.text, ":66: one slave too many"));
}

TEST(files_that_are_none, make_file, remove_file)
{
	struct config_file file;
	struct err err;

	assert_int_equal(config_file_read_or_err(&file, "/dev/zero", &err), -EINVAL);
	assert_non_null(strstr(err.text, "regular"));
}
