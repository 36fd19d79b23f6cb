// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the parts of pages (PARTS of index.js) that have all words of the query. Those with a word
// in their heading or title come first.
const MOST = 50; // shown
const found = document.getElementById("found");
const field = document.querySelector("input");

function score(part, words) {
	const [, title, heading, text] = part.map(field => field.toLowerCase());
	let sum = 0;
	for (const word of words) {
		const points = (heading.split(/[\s,]+/).includes(word) ? 8 : heading.includes(word) ? 4 : 0) +
			(title.includes(word) ? 2 : 0) + (text.includes(word) ? 1 : 0);
		if (!points)
			return 0;
		sum += points;
	}
	return sum;
}

function excerpt(text, words) {
	const at = Math.max(0, text.toLowerCase().indexOf(words[0]) - 60);
	return (at ? "... " : "") + text.substr(at, 220) + (at + 220 < text.length ? " ..." : "");
}

function row([address, title, heading, text], words) {
	const item = document.createElement("li"), link = document.createElement("a");
	const about = document.createElement("p");
	link.href = address;
	link.textContent = heading && heading !== title ? `${title}: ${heading}` : title;
	about.textContent = excerpt(text, words);
	item.append(link, about);
	return item;
}

function search() {
	const words = field.value.toLowerCase().split(/\s+/).filter(word => word);
	const hits = words.length ? PARTS.map(part => [score(part, words), part])
		.filter(hit => hit[0]).sort((one, other) => other[0] - one[0]) : [];
	found.replaceChildren(...hits.slice(0, MOST).map(hit => row(hit[1], words)));
	if (words.length && !hits.length)
		found.textContent = "Nothing has all of these words.";
}

field.value = new URLSearchParams(location.search).get("q") || "";
field.addEventListener("input", search);
search();
