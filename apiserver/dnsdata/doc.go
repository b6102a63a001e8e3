// Package dnsdata validates the types, names and values of DNS records and
// brings them to one canonical form, so that the API server and the Terraform
// provider agree on when two spellings mean the same record.
//
// A value is the RDATA of a record in text, without what has a field of its
// own: the priority of MX and SRV. A name is relative to the zone in canonical
// form, with @ for the zone itself.
//
// The package is pure: no I/O, no state. It may import the standard library and
// apiserver/domainname, and nothing else of this module; github.com/miekg/dns
// serves its tests as an oracle only.
//
// Errors are written for people: they say what is wrong and what is expected,
// and quote at most a short, escaped part of the input.
package dnsdata
