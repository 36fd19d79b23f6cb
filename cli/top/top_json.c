/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/top/top_json.h"

#include "cli/top/top_problems.h"
#include "view/json_value.h"
#include "view/view_bond.h"

static void top_json_set_rates(json_t *json, const struct top_series *series)
{
	const struct {
		const char *name;
		double rate;
	} rates[] = {
		{ "tx_bits_per_s", series->rates.tx_bits },
		{ "rx_bits_per_s", series->rates.rx_bits },
		{ "tx_packets_per_s", series->rates.tx_packets },
		{ "rx_packets_per_s", series->rates.rx_packets },
		{ "rx_dropped_per_s", series->rates.rx_dropped },
	};

	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		json_object_set_new(json, rates[i].name,
				    series->is_known ? json_real(rates[i].rate) : json_null());
}

static json_t *top_json_share(double share)
{
	return share < 0 ? json_null() : json_real(share);
}

static json_t *top_json_slave(const struct top_bond *bond, const struct top_slave *slave)
{
	json_t *json = json_object();

	json_object_set_new(json, "name", json_value_text(slave->name));
	json_object_set_new(json, "mii_status", view_link(slave->link));
	json_object_set_new(json, "active", json_boolean(slave->is_active));
	json_object_set_new(json, "drain", json_boolean(slave->is_drained));
	json_object_set_new(json, "mux_state",
			    slave->lacp ? json_string(slave->lacp) : json_null());
	json_object_set_new(json, "share", top_json_share(top_share(bond, slave)));
	json_object_set_new(json, "share_due", json_real(slave->due));
	json_object_set_new(json, "buckets",
			    slave->buckets == TOP_UNKNOWN ? json_null()
							  : json_integer(slave->buckets));
	json_object_set_new(json, "why", json_value_text(slave->why));
	json_object_set_new(json, "problem", json_value_text(slave->problem));
	top_json_set_rates(json, &slave->series);
	return json;
}

static json_t *top_json_slaves(const struct top_bond *bond)
{
	json_t *slaves = json_array();

	for (size_t i = 0; i < bond->slave_count; i++)
		json_array_append_new(slaves, top_json_slave(bond, &bond->slaves[i]));
	return slaves;
}

static json_t *top_json_hottest(const struct top_bond *bond)
{
	json_t *hottest = json_array();

	for (size_t i = 0; i < bond->hot_count; i++)
		json_array_append_new(
			hottest,
			json_pack("{s:i, s:o, s:f}", "bucket", (int)bond->hot[i].bucket, "slave",
				  json_value_text(bond->pins.slaves[bond->hot[i].slot].name),
				  "tx_bits_per_s", bond->hot[i].tx_bits));
	return hottest;
}

json_t *top_json(const struct top_bond *bond)
{
	bool is_readable = !bond->error.text[0];
	json_t *json = json_object();

	json_object_set_new(json, "name", json_value_text(bond->name));
	json_object_set_new(json, "mode", is_readable ? json_string(bond->mode) : json_null());
	json_object_set_new(json, "carrier",
			    is_readable ? json_boolean(bond->has_carrier) : json_null());
	json_object_set_new(json, "bondd",
			    is_readable ? json_boolean(bond->has_bondd) : json_null());
	json_object_set_new(json, "problems", top_problems(bond));
	top_json_set_rates(json, &bond->series);
	json_object_set_new(json, "hottest", is_readable ? top_json_hottest(bond) : json_array());
	json_object_set_new(json, "slaves", is_readable ? top_json_slaves(bond) : json_array());
	return json;
}
