/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options/config_write.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options/option_address.h"

/* of the longest addresses, in the line of a configuration file */
#define ADDRESSES_A_LINE 4

int config_write_check_name(const char *name, struct err *err)
{
	if (strpbrk(name, "];") || name[0] == '#')
		return err_set(err, EINVAL,
			       "the name '%s' cannot be written to a configuration file; rename "
			       "the device",
			       name);
	return 0;
}

/* The reader's lines have a limit, so a long list takes several; each adds to the ones before. */
static void config_write_list(FILE *file, const struct option_spec *option,
			      const struct option_value *value)
{
	char text[OPTION_ADDRESS_SIZE];

	for (unsigned int i = 0; i < option_address_count(value); i++)
		if (i % ADDRESSES_A_LINE == 0)
			fprintf(file, "%s%s = %s", i ? "\n" : "", option->name,
				option_address_at(option, value, i, text));
		else
			fprintf(file, ",%s", option_address_at(option, value, i, text));
	fprintf(file, "\n");
}

void config_write_option(FILE *file, const struct option_spec *option,
			 const struct option_value *value)
{
	char text[OPTION_TEXT_SIZE];

	if (option_is_list(option) && option_address_count(value)) {
		config_write_list(file, option, value);
		return;
	}
	option_format(option, value, text, sizeof(text));
	fprintf(file, "%s = %s\n", option->name, text);
}

/* Only root may give a file away; who else saves keeps it. */
static int config_write_permit(int fd, const char *replaced)
{
	struct stat old = { .st_mode = 0644 };

	if (replaced && !stat(replaced, &old) && fchown(fd, old.st_uid, old.st_gid) && !geteuid())
		return -1;
	return fchmod(fd, old.st_mode & 07777);
}

int config_write_end(FILE *file, const char *replaced)
{
	int fd = fileno(file), r = 0;

	if (fflush(file) || ferror(file) || config_write_permit(fd, replaced) || fsync(fd))
		r = -errno;
	if (fclose(file) && !r)
		r = -errno;
	return r;
}

void config_write_sync_dir(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	fsync(fd);
	close(fd);
}
