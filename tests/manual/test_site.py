# SPDX-License-Identifier: GPL-2.0-or-later
"""The site of `make html`, and with it the links of all Markdown files: packaging/site/build
refuses a link to a file or a heading that is not there. A browser tests the search and the width.
"""
import html.parser
import os
import re
import shutil
import subprocess
import urllib.parse

import pytest

import browser
from built import BUILD, ROOT

SITE = "packaging/site"
NARROW = 360
# The pages one after another, in a frame as narrow as a telephone, which no window of a browser is.
# Ends with what is too wide.
MEASURE = """<!DOCTYPE html><iframe width="%d" height="600" frameborder="0"></iframe><script>
const pages = %s, wide = [], frame = document.querySelector("iframe");
function next() {
    if (pages.length)
        frame.src = pages.shift();
    else
        document.body.dataset.wide = "wide: " + wide.join(" ");
}
frame.onload = () => {
    const root = frame.contentDocument.documentElement;
    if (!root.querySelector("main"))
        return;
    if (root.scrollWidth > %d)
        wide.push(frame.src + " " + root.scrollWidth);
    next();
};
next();
</script>"""


class Reader(html.parser.HTMLParser):
    """What a page links to and loads, and the ids that it has."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loaded, self.ids = [], [], []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.ids += [values["id"]] if "id" in values else []
        self.links += [values[name] for name in ("href", "src", "action") if name in values]
        self.loaded += [values.get("src") or values.get("href")] if tag in (
            "img", "script", "link", "iframe") else []


def build(site, root=ROOT, manuals=()):
    return subprocess.run([root / SITE / "build", site, *manuals], capture_output=True, text=True,
                          check=False, timeout=60)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    directory = tmp_path_factory.mktemp("site")
    done = build(directory, manuals=[BUILD / "man" / path.stem
                                     for path in (ROOT / "man").glob("*.scd")])
    assert done.returncode == 0, done.stderr
    return directory


@pytest.fixture(scope="module")
def pages(site):
    return {path: Reader(path) for path in site.rglob("*.html")}


def sources():
    """All files of the tree; what was built and the inputs of fuzzers are left out."""
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders
                      if not name.startswith(("build", ".", "__")) and name != "corpus"]
        yield from (ROOT / folder / name for name in names)


def test_all_files_have_a_page(pages, site):
    names = {re.sub(r"README\.md$|\.md$", lambda found: "index.html" if found[0] > "R" else ".html",
                    path.relative_to(ROOT).as_posix())
             for path in sources() if path.suffix == ".md"}
    names |= {f"man/{path.stem}.html" for path in (ROOT / "man").glob("*.scd")}
    assert names <= {path.relative_to(site).as_posix() for path in pages}


def test_no_link_is_dead(pages):
    for page, reader in pages.items():
        assert len(reader.ids) == len(set(reader.ids)), page
        for link in reader.links:
            if re.match("https?:", link):
                continue
            path, _, anchor = link.partition("#")
            target = (page.parent / urllib.parse.unquote(path)).resolve() if path else page
            assert target.is_file(), f"{page}: {link}"
            assert not anchor or urllib.parse.unquote(anchor) in pages[target].ids, \
                f"{page}: {link}"


def test_nothing_is_loaded_from_elsewhere(pages, site):
    assert [link for reader in pages.values() for link in reader.loaded if ":" in link] == []
    assert "url(" not in (site / "style.css").read_text()


def test_mentions_are_links(site):
    assert '<a href="../../man/bondd.8.html">bondd(8)</a>' in \
        (site / "docs/operators/metrics.html").read_text()
    assert re.search(r'<a href="bondctl.8.html"><b>bondctl</b>\(8\)</a>',
                     (site / "man/bondd.8.html").read_text())
    assert 'half-lost.html">docs/users/half-lost.md</a>' in (site / "man/xbond.7.html").read_text()


def test_the_index_has_all_pages(pages, site):
    """docs/README.md names each page of docs/."""
    named = {os.path.normpath(link) for link in pages[site / "docs/index.html"].links}
    assert {path.relative_to(site / "docs").as_posix() for path in pages
            if path.is_relative_to(site / "docs")} <= named


def test_pages_that_are_mentioned_are_there():
    """In comments, manuals and messages, too."""
    for path in sources():
        for name in re.findall(rb"\bdocs/[\w/-]+\.md\b", path.read_bytes()):
            assert (ROOT / name.decode()).exists(), f"{path}: {name}"


TEXT = """# Some *words*: `code` & (more), 1.2

## Twice

## Twice

[file](other.md) [heading](other.md#a-heading) [here](#some-words-code--more-12)
[second](#twice-1) [folder](docs/) [outside](https://example.org/)
"""
MISTAKES = ("none.md", "other.md#none", "#none", "#Twice", "#twice-2", "docs/none.png")


@pytest.fixture
def small(tmp_path):
    """A tree that has links of each kind."""
    shutil.copytree(ROOT / SITE, tmp_path / SITE)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/README.md").write_text("# A folder\n")
    (tmp_path / "README.md").write_text(TEXT)
    (tmp_path / "other.md").write_text("# A heading\n")
    return tmp_path


def test_headings_are_called_as_by_github(small):
    done = build(small / "site", small)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_dead_link_is_told(small, mistake):
    (small / "docs/README.md").write_text(f"# A folder\n\n[all](../README.md)\n\n"
                                          f"[wrong](../{mistake})\n" if mistake[0] != "#" else
                                          f"# A folder\n\n[wrong](../README.md{mistake})\n")
    done = build(small / "site", small)
    assert done.returncode == 1 and mistake in done.stderr and done.stderr.count("\n") == 1


def browse(directory, address, *words):
    """The page as it is after its scripts have run."""
    return subprocess.run(browser.command(directory, address, *words, "--dump-dom"),
                          env=browser.environment(directory), capture_output=True, text=True,
                          check=True, timeout=120).stdout


@browser.needs_browser
def test_search(site, tmp_path):
    """From the files. The manual's entry of an option comes before pages that only use the word."""
    found = re.findall(r'<li><a href="([^"]*)"',
                       browse(tmp_path, f"{(site / 'search.html').as_uri()}?q=flowlet_gap")
                       .partition('id="found"')[2].partition("</ol>")[0])
    assert found[0].endswith("#flowlet_gap") and "docs/users/steering.html#flowlets" in found
    assert "Nothing has all" in browse(
        tmp_path, f"{(site / 'search.html').as_uri()}?q=flowlet_gap+noSuchWord")


@browser.needs_browser
def test_no_page_is_wider_than_a_telephone(pages, tmp_path):
    frame = tmp_path / "frame.html"
    frame.write_text(MEASURE % (NARROW, [page.as_uri() for page in pages], NARROW))
    shown = browse(tmp_path, frame.as_uri(), "--allow-file-access-from-files",
                   "--virtual-time-budget=60000")
    assert re.search('data-wide="(.*?)"', shown)[1] == "wide: "


def test_the_price_is_that_of_the_picture():
    """README says what the picture has measured, which is made anew at times."""
    text = (ROOT / "README.md").read_text().split("The price is CPU time.")[1]
    added = re.findall(r"\+(\d+) %", (ROOT / "docs/pictures/beside.svg").read_text())
    sending, receiving = added[:len(added) // 2], added[len(added) // 2:]
    bonding, as_it_comes = 0, 2  # the order of the bars
    assert re.findall(r"(\d+) %", text)[:4] == [
        bars[bar] for bar in (as_it_comes, bonding) for bars in (sending, receiving)]
