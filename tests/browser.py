# SPDX-License-Identifier: GPL-2.0-or-later
"""A browser without a window, with a directory of its own."""
import os
import shutil

import pytest

BROWSER = shutil.which("chromium")
needs_browser = pytest.mark.skipif(not BROWSER, reason="chromium is not installed")


def command(directory, address, *words):
    return [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
            "--disable-dev-shm-usage", "--disable-background-networking",
            f"--user-data-dir={directory}/profile", *words, address]


def environment(directory):
    return {**os.environ, "HOME": str(directory)}
