/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of xbond's headers that others use, too: select.bpf.h includes this twice, and between
 * the two they begin with xbond_. Maps keep these names; loader.h finds them by them. A type of the
 * kernel that ends in ___xbond is still that type to libbpf.
 */
/* clang-format off */
#ifndef XBOND_OWN_NAMES
#define XBOND_OWN_NAMES

#pragma push_macro("settings")
#undef settings
#pragma push_macro("table")
#undef table
#pragma push_macro("buckets")
#undef buckets
#pragma push_macro("cursor")
#undef cursor
#pragma push_macro("wake")
#undef wake
#pragma push_macro("doubt")
#undef doubt
#pragma push_macro("moves")
#undef moves
#pragma push_macro("alb")
#undef alb
#pragma push_macro("vlans")
#undef vlans
#pragma push_macro("loads")
#undef loads
#pragma push_macro("flowlets")
#undef flowlets
#pragma push_macro("recent")
#undef recent
#pragma push_macro("counters")
#undef counters
#pragma push_macro("losses")
#undef losses
#pragma push_macro("xdp_all")
#undef xdp_all
#pragma push_macro("devices")
#undef devices
#pragma push_macro("packet")
#undef packet
#pragma push_macro("packet_of")
#undef packet_of
#pragma push_macro("untagged")
#undef untagged
#pragma push_macro("untagged_of")
#undef untagged_of
#pragma push_macro("payload")
#undef payload
#pragma push_macro("payload_of")
#undef payload_of
#pragma push_macro("encap")
#undef encap
#pragma push_macro("encap_inner")
#undef encap_inner
#pragma push_macro("encap_inner_of")
#undef encap_inner_of
#pragma push_macro("hash_of")
#undef hash_of
#pragma push_macro("hash_headers")
#undef hash_headers
#pragma push_macro("vlan_header")
#undef vlan_header
#pragma push_macro("extension_header")
#undef extension_header
#pragma push_macro("net_device")
#undef net_device
#pragma push_macro("xdp_buff")
#undef xdp_buff
#pragma push_macro("list_head")
#undef list_head
#pragma push_macro("bpf_dtab")
#undef bpf_dtab
#pragma push_macro("bpf_dtab_netdev")
#undef bpf_dtab_netdev
#pragma push_macro("READ_ONCE")
#undef READ_ONCE
#pragma push_macro("WRITE_ONCE")
#undef WRITE_ONCE
#pragma push_macro("CLOCK_MONOTONIC")
#undef CLOCK_MONOTONIC
#pragma push_macro("ENCAP")
#undef ENCAP
#pragma push_macro("VLAN_VID_MASK")
#undef VLAN_VID_MASK
#pragma push_macro("IP_MF_OR_OFFSET")
#undef IP_MF_OR_OFFSET
#pragma push_macro("IP6_OFFSET_OR_MF")
#undef IP6_OFFSET_OR_MF
#pragma push_macro("IP6_FLOW_LABEL")
#undef IP6_FLOW_LABEL
#pragma push_macro("FLOW_CONTEXT")
#undef FLOW_CONTEXT

#define settings xbond_data_settings
#define table xbond_data_table
#define buckets xbond_data_buckets
#define cursor xbond_data_cursor
#define wake xbond_data_wake
#define doubt xbond_data_doubt
#define moves xbond_data_moves
#define alb xbond_data_alb
#define vlans xbond_data_vlans
#define loads xbond_loads
#define flowlets xbond_data_flowlets
#define recent xbond_recents
#define counters xbond_counters
#define losses xbond_losses
#define xdp_all xbond_xdp_all
#ifdef XBOND_SELECT_TC
#define devices xbond_devices
#else
#define devices xbond_xdp_slaves
#endif
#define packet xbond_frame
#define packet_of xbond_packet_of
#define untagged xbond_untagged
#define untagged_of xbond_untagged_of
#define payload xbond_payload
#define payload_of xbond_payload_of
#define encap xbond_encap
#define encap_inner xbond_encap_inner
#define encap_inner_of xbond_encap_inner_of
#define hash_of xbond_hash_of
#define hash_headers xbond_hash_headers
#define vlan_header xbond_vlan_header
#define extension_header xbond_extension_header
#define net_device net_device___xbond
#define xdp_buff xdp_buff___xbond
#define list_head list_head___xbond
#define bpf_dtab bpf_dtab___xbond
#define bpf_dtab_netdev bpf_dtab_netdev___xbond

#else /* the second time */
#undef XBOND_OWN_NAMES

#undef settings
#pragma pop_macro("settings")
#undef table
#pragma pop_macro("table")
#undef buckets
#pragma pop_macro("buckets")
#undef cursor
#pragma pop_macro("cursor")
#undef wake
#pragma pop_macro("wake")
#undef doubt
#pragma pop_macro("doubt")
#undef moves
#pragma pop_macro("moves")
#undef alb
#pragma pop_macro("alb")
#undef vlans
#pragma pop_macro("vlans")
#undef loads
#pragma pop_macro("loads")
#undef flowlets
#pragma pop_macro("flowlets")
#undef recent
#pragma pop_macro("recent")
#undef counters
#pragma pop_macro("counters")
#undef losses
#pragma pop_macro("losses")
#undef xdp_all
#pragma pop_macro("xdp_all")
#undef devices
#pragma pop_macro("devices")
#undef packet
#pragma pop_macro("packet")
#undef packet_of
#pragma pop_macro("packet_of")
#undef untagged
#pragma pop_macro("untagged")
#undef untagged_of
#pragma pop_macro("untagged_of")
#undef payload
#pragma pop_macro("payload")
#undef payload_of
#pragma pop_macro("payload_of")
#undef encap
#pragma pop_macro("encap")
#undef encap_inner
#pragma pop_macro("encap_inner")
#undef encap_inner_of
#pragma pop_macro("encap_inner_of")
#undef hash_of
#pragma pop_macro("hash_of")
#undef hash_headers
#pragma pop_macro("hash_headers")
#undef vlan_header
#pragma pop_macro("vlan_header")
#undef extension_header
#pragma pop_macro("extension_header")
#undef net_device
#pragma pop_macro("net_device")
#undef xdp_buff
#pragma pop_macro("xdp_buff")
#undef list_head
#pragma pop_macro("list_head")
#undef bpf_dtab
#pragma pop_macro("bpf_dtab")
#undef bpf_dtab_netdev
#pragma pop_macro("bpf_dtab_netdev")
#undef READ_ONCE
#pragma pop_macro("READ_ONCE")
#undef WRITE_ONCE
#pragma pop_macro("WRITE_ONCE")
#undef CLOCK_MONOTONIC
#pragma pop_macro("CLOCK_MONOTONIC")
#undef ENCAP
#pragma pop_macro("ENCAP")
#undef VLAN_VID_MASK
#pragma pop_macro("VLAN_VID_MASK")
#undef IP_MF_OR_OFFSET
#pragma pop_macro("IP_MF_OR_OFFSET")
#undef IP6_OFFSET_OR_MF
#pragma pop_macro("IP6_OFFSET_OR_MF")
#undef IP6_FLOW_LABEL
#pragma pop_macro("IP6_FLOW_LABEL")
#undef FLOW_CONTEXT
#pragma pop_macro("FLOW_CONTEXT")

#endif
