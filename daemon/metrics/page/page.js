// SPDX-License-Identifier: GPL-2.0-or-later
// Asks for bonds.json every second and shows it. Names of devices are only ever set as text.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const EVERY_MS = 1000;
const KEPT = 120; // points of a curve
const PATIENCE_MS = 5000;

const past = new Map(); // key: {at, tx, rx, out: [bit/s], in: [bit/s]}
const byId = id => document.getElementById(id);

function element(tag, className, ...children) {
	const made = document.createElement(tag);
	made.className = className;
	made.append(...children);
	return made;
}

function rateText(bits) {
	if (bits === undefined)
		return "-";
	const units = ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"];
	let unit = 0;
	for (; bits >= 999.5 && unit < units.length - 1; unit++)
		bits /= 1000;
	return `${bits.toFixed(bits < 10 && unit ? 1 : 0)} ${units[unit]}`;
}

function speedText(mbps) {
	return mbps ? rateText(mbps * 1e6) : "-";
}

function timeText(us) {
	if (us < 1000)
		return `${us} \u00b5s`;
	return us < 1e6 ? `${(us / 1000).toFixed(1)} ms` : `${(us / 1e6).toFixed(1)} s`;
}

// Remembers the counters, and returns the rates since the last time.
function rates(key, counters, now) {
	const last = past.get(key);
	const next = {at: now, tx: counters.tx_bytes, rx: counters.rx_bytes,
		out: last ? last.out : [], in: last ? last.in : []};
	past.set(key, next);
	if (!last || last.tx === null || next.tx === null)
		return next;
	const seconds = (now - last.at) / 1000;
	for (const [list, grown] of [[next.out, next.tx - last.tx], [next.in, next.rx - last.rx]]) {
		list.push(Math.max(0, grown) * 8 / seconds);
		list.splice(0, list.length - KEPT);
	}
	return next;
}

// The scale of a bond's curves is one, so they can be compared: a round number above the highest.
function scaleOf(list) {
	const most = Math.max(1000, ...list.flatMap(rate => [...rate.out, ...rate.in]));
	const ten = 10 ** Math.floor(Math.log10(most));
	return [1, 2, 5, 10].find(step => step * ten >= most) * ten;
}

function scaleText(top) {
	return `last 2 min, 0 to ${rateText(top)}`;
}

function curve(rate, top) {
	const svg = document.createElementNS(SVG, "svg");
	svg.setAttribute("viewBox", `0 0 ${KEPT} 20`);
	svg.setAttribute("preserveAspectRatio", "none");
	svg.setAttribute("role", "img");
	svg.setAttribute("aria-label", scaleText(top));
	for (const side of ["in", "out"]) {
		const line = document.createElementNS(SVG, "polyline");
		const list = rate[side];
		line.setAttribute("class", side);
		line.setAttribute("points", list.map((value, i) =>
			`${KEPT - list.length + i},${(19 - value / top * 18).toFixed(1)}`).join(" "));
		svg.append(line);
	}
	return svg;
}

// On a narrow screen a cell has its label beside it, because there is no head.
function cell(className, label, ...children) {
	const made = element("td", className, ...children);
	made.dataset.label = label;
	return made;
}

function rateCells(rate, top) {
	return [cell("number out", "out", rateText(rate.out.at(-1))),
		cell("number in", "in", rateText(rate.in.at(-1))),
		cell("curve", scaleText(top), curve(rate, top))];
}

// A backup or a drained slave is not in use, and nothing is wrong.
function isBad(slave) {
	return slave.problem !== null || slave.attached === false ||
		(slave.why !== null && slave.mii_status !== "up");
}

function stateCell(slave) {
	const words = [slave.why, slave.problem].filter(text => text !== null).join("; ");
	const look = isBad(slave) ? "bad" : words ? "idle" : "good";
	return element("td", `why ${look}`, words || "in use");
}

function slaveRow(slave, rate, top) {
	return element("tr", "", element("td", "name", slave.name ?? "?"), stateCell(slave),
		...rateCells(rate, top), cell("number", "speed", speedText(slave.speed_mbps)),
		cell("number", "link failures", String(slave.link_failures)),
		cell("number", "packets dropped", String(slave.rx_dropped)));
}

function headRow(top) {
	const names = ["slave", "state", "out", "in", scaleText(top), "speed", "link failures",
		"packets dropped"];
	return element("tr", "heads", ...names.map((name, i) =>
		element("th", i > 1 && i !== 4 ? "number" : "", name)));
}

function slaveTable(bond, now) {
	const list = bond.slaves.map(slave => rates(`${bond.name}/${slave.name}`, slave, now));
	const top = scaleOf(list);
	return element("table", "", headRow(top),
		...bond.slaves.map((slave, i) => slaveRow(slave, list[i], top)));
}

function failoverText(failover) {
	if (!failover || !failover.count)
		return "no failover yet";
	const slowest = failover.histogram_us.at(-1).below;
	return `${failover.count} failover${failover.count > 1 ? "s" : ""}, the last in ` +
		`${timeText(failover.last_duration_us)}, all below ${timeText(slowest)}`;
}

function facts(bond) {
	const active = bond.mode === "active-backup" ? `active ${bond.active_slave ?? "none"}, ` : "";
	const lacp = bond.lacp && bond.lacp.partner_system
		? `, partner ${bond.lacp.partner_system} with ${bond.lacp.num_ports} ports` : "";
	return `${bond.mode}, ${active}${speedText(bond.speed_mbps)}, ` +
		`${failoverText(bond.failover)}${lacp}`;
}

function bondSection(bond, now) {
	const rate = rates(bond.name, bond, now);
	const section = element("section", "", element("div", "head",
		element("h2", "name", bond.name ?? "?"),
		element("span", bond.carrier ? "good" : "bad", bond.carrier ? "carrier" : "no carrier"),
		element("span", "out", `out ${rateText(rate.out.at(-1))}`),
		element("span", "in", `in ${rateText(rate.in.at(-1))}`)));
	if (bond.mode === null)
		return section;
	section.append(element("p", "facts", facts(bond)));
	section.append(slaveTable(bond, now));
	return section;
}

function newsOf(bond) {
	const news = [];
	if (bond.problem !== null)
		news.push(`${bond.name}: ${bond.problem}`);
	else if (!bond.carrier)
		news.push(`${bond.name}: no carrier`);
	if (bond.attached === false)
		news.push(`${bond.name}: its own programs are not attached`);
	for (const slave of bond.slaves.filter(isBad))
		news.push(`${bond.name}: ${slave.name}: ` +
			[slave.why, slave.problem].filter(text => text !== null).join("; "));
	return news;
}

function show(bonds) {
	const now = performance.now();
	byId("bonds").replaceChildren(...bonds.map(bond => bondSection(bond, now)));
	for (const [key, rate] of past)
		if (rate.at !== now)
			past.delete(key);
	byId("news").replaceChildren(...bonds.flatMap(newsOf).map(text => element("li", "", text)));
	if (!bonds.length)
		byId("bonds").append(element("p", "facts", "There are no bonds."));
}

function tell(text, isBadNews) {
	byId("state").textContent = text;
	byId("state").className = isBadNews ? "bad" : "";
	document.body.classList.toggle("stale", isBadNews);
}

async function ask() {
	try {
		const answer = await fetch("bonds.json",
			{cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS)});
		if (!answer.ok)
			throw new Error(await answer.text());
		show(await answer.json());
		tell(new Date().toLocaleTimeString(), false);
	} catch (error) {
		tell(`bondd does not answer: ${error.message}`, true);
	}
	setTimeout(ask, EVERY_MS);
}

byId("host").textContent = location.host;
ask();
