/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/top/top_terminal.h"

#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/text_wrap.h"

/* In milliseconds: how long after Escape the rest of a key's sequence may come. */
#define ESCAPE_DELAY_MS 50

static const int ending_signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
static const int crash_signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };

static volatile sig_atomic_t caught, resized;
static struct termios modes_before;
static char crash_text[256]; /* makes the screen as it was; for a signal handler */
static SCREEN *screen;

static void top_terminal_on_ending(int number)
{
	caught = number;
}

static void top_terminal_on_resize(int number)
{
	(void)number;
	resized = 1;
}

/* curses is in an unknown state, so only what POSIX allows in a handler is done. */
static void top_terminal_on_crash(int number)
{
	if (write(STDOUT_FILENO, crash_text, strlen(crash_text)) < 0)
		errno = 0;
	tcsetattr(STDIN_FILENO, TCSANOW, &modes_before);
	raise(number);
}

static void top_terminal_handle_signals(void)
{
	struct sigaction ending = { .sa_handler = top_terminal_on_ending };
	struct sigaction resize = { .sa_handler = top_terminal_on_resize };
	struct sigaction crash = { .sa_handler = top_terminal_on_crash, .sa_flags = SA_RESETHAND };

	for (size_t i = 0; i < sizeof(ending_signals) / sizeof(ending_signals[0]); i++)
		sigaction(ending_signals[i], &ending, NULL);
	sigaction(SIGWINCH, &resize, NULL);
	for (size_t i = 0; i < sizeof(crash_signals) / sizeof(crash_signals[0]); i++)
		sigaction(crash_signals[i], &crash, NULL);
}

static void top_terminal_add_crash_text(const char *capability)
{
	const char *text = tigetstr(capability);

	if (text && text != (char *)-1 && strlen(crash_text) + strlen(text) < sizeof(crash_text))
		strcat(crash_text, text);
}

static int top_terminal_check(struct err *err)
{
	const char *name = getenv("TERM");
	int found;

	if (setupterm(NULL, STDOUT_FILENO, &found) != OK)
		return err_set(err, ENOTTY,
			       "the terminal '%s' is not known (TERM); use 'bondctl top --once'",
			       name ? name : "");
	if (!cursor_address || !clear_screen) {
		del_curterm(cur_term);
		return err_set(err, ENOTTY,
			       "the terminal '%s' (TERM) cannot show a full screen; use 'bondctl "
			       "top --once'",
			       name ? name : "");
	}
	crash_text[0] = '\0';
	top_terminal_add_crash_text("sgr0");
	top_terminal_add_crash_text("cnorm");
	top_terminal_add_crash_text("rmcup");
	del_curterm(cur_term);
	return 0;
}

static void top_terminal_begin_colours(void)
{
	if (!cli_allows_colour())
		return;
	if (has_colors() && start_color() == OK)
		use_default_colors();
}

int top_terminal_begin(struct err *err)
{
	int r = top_terminal_check(err);

	if (r)
		return r;
	tcgetattr(STDIN_FILENO, &modes_before);
	top_terminal_handle_signals();
	text_wrap_end();
	screen = newterm(NULL, stdout, stdin);
	if (!screen)
		return err_set(err, ENOTTY, "cannot use the terminal; use 'bondctl top --once'");
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE_DELAY_MS);
	curs_set(0);
	top_terminal_begin_colours();
	return 0;
}

void top_terminal_end(void)
{
	endwin();
	delscreen(screen);
	screen = NULL;
}

/* Terminals differ in what they keep of the screen, so it will be drawn anew. */
static void top_terminal_follow_size(void)
{
	struct winsize size;

	if (!resized)
		return;
	resized = 0;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
	clearok(curscr, TRUE);
}

/* Signals are blocked until ppoll() waits, so that none comes between the look and the wait. */
bool top_terminal_wait(unsigned int timeout_ms)
{
	struct timespec timeout = { .tv_sec = timeout_ms / 1000,
				    .tv_nsec = (long)(timeout_ms % 1000) * 1000000 };
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	sigset_t all, before;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	if (!caught && !resized)
		ppoll(&input, 1, &timeout, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	top_terminal_follow_size();
	return !caught && !(input.revents & (POLLHUP | POLLERR | POLLNVAL));
}

void top_terminal_obey(void)
{
	if (!caught)
		return;
	signal(caught, SIG_DFL);
	raise(caught);
}

/* The fonts of the Linux console lack most of them. */
bool top_terminal_has_blocks(void)
{
	const char *name = getenv("TERM");

	return !strcmp(nl_langinfo(CODESET), "UTF-8") && (!name || strcmp(name, "linux"));
}
