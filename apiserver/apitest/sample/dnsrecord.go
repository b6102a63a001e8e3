package sample

import "github.com/mailhost/terraform-provider-mailhost/apiserver/api"

var dnsRecords = Kind{
	Kind: api.CreateDNSRecord.Kind, File: "dnsrecord",
	Bodies: map[string]Object{
		"create-dns-record": {"domain": "example.com", "name": "mail", "type": "MX", "value": "mx.example.net", "prio": 10, "ttl": 3000},
		"update-dns-record": {"value": "mx2.example.net", "prio": 20, "ttl": 300},
	},
	Parameter: "dns_record_id", Path: "1", Key: []string{"name", "type", "value"},
	New: func(_, domain string) Object {
		return Object{"domain": domain, "name": "@", "type": "MX", "value": "sample.example.net", "prio": 5}
	},
	Shown:  map[string]string{"prio": "priority"},
	Hidden: map[string]string{"domain": "the response does not include the domain"},

	Resource: "mailhost_dns_record",
	Config:   Object{"domain": "example.com", "name": "www", "type": "A", "value": "192.0.2.1"},
	Change:   Object{"ttl": 600},
	Replace:  Object{"name": "web"},
	Outside:  []Change{{"update-dns-record", Object{"ttl": 1234}}},
}
