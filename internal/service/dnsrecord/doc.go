// Package dnsrecord has the resource mailhost_dns_record.
package dnsrecord
