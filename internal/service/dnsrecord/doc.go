// Package dnsrecord has the resource mailhost_dns_record with its data sources and
// list resource.
package dnsrecord
