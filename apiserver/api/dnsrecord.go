package api

import "github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"

// DNSRecord is a record of a domain of the account.
type DNSRecord struct {
	ID              int64  `json:"id" minimum:"1" maximum:"9007199254740991" doc:"Id of the record, a number"`
	Name            string `json:"name" minLength:"1" doc:"Name of the record, relative to the domain; @ is the domain itself"`
	Type            string `json:"type" enum:"A,AAAA,CAA,CNAME,MX,NS,SRV,TXT" doc:"Type of the record"`
	Value           string `json:"value" minLength:"1" doc:"Value of the record in the form of its type, without the priority; a TXT value is the text itself, its strings joined"`
	TTL             int64  `json:"ttl" minimum:"60" maximum:"86400" doc:"How long resolvers may cache the record, in seconds"`
	Priority        *int64 `json:"priority" minimum:"0" maximum:"65535" doc:"Priority of an MX or SRV record, the lowest first; null for other types"`
	IsSystemManaged bool   `json:"is_system_managed" default:"false" doc:"Whether the record was created with its domain, and exists as long as the domain"`
}

type CreateDNSRecordBody struct {
	Domain string `json:"domain" minLength:"1" doc:"Domain UUID or domain name"`
	Name   string `json:"name" minLength:"1" maxLength:"255" doc:"Relative, absolute or @"`
	Type   string `json:"type" enum:"A,AAAA,CAA,CNAME,MX,NS,SRV,TXT"`
	Value  string `json:"value" minLength:"1" doc:"RDATA of that type, without the priority"`
	Prio   *int64 `json:"prio,omitempty" minimum:"0" maximum:"65535" nullable:"true" doc:"Required for MX and SRV, refused elsewhere"`
	TTL    *int64 `json:"ttl,omitempty" minimum:"60" maximum:"86400" default:"3600" nullable:"true" doc:"Seconds"`
}

type CreateDNSRecordRequest = KeyedRequest[CreateDNSRecordBody]

type ListDNSRecordsRequest struct {
	InAccount
	Paged
	Domain string `query:"domain" doc:"Only those of this domain, by name or UUID"`
	Type   string `query:"type" enum:"A,AAAA,CAA,CNAME,MX,NS,SRV,TXT" doc:"Only those of this type"`
	Name   string `query:"name" doc:"Only those of this name, relative to its domain or, with domain, absolute; @ is the domain itself"`
}

type DNSRecordRequest struct {
	InAccount
	DNSRecordID int64 `path:"dns_record_id"`
}

// UpdateDNSRecordRequest is the request for a new value, TTL or priority; null or an absent member changes nothing.
type UpdateDNSRecordRequest struct {
	InAccount
	DNSRecordID int64 `path:"dns_record_id"`
	Body        UpdateDNSRecordBody
}

type UpdateDNSRecordBody struct {
	Value *string `json:"value,omitempty" minLength:"1" nullable:"true"`
	TTL   *int64  `json:"ttl,omitempty" minimum:"60" maximum:"86400" nullable:"true"`
	Prio  *int64  `json:"prio,omitempty" minimum:"0" maximum:"65535" nullable:"true"`
}

var dnsRecords = Kind{Tag: "DNS records", Noun: "DNS record", Description: "Records in the zones of the account's domains"}

// Operations on DNS records.
var (
	CreateDNSRecord = defineCreate[CreateDNSRecordBody, DNSRecord]("POST /dns-records", "Create a DNS record", Spec{
		Number: 17, ID: "create-dns-record", Kind: dnsRecords, Capability: vocab.CapDNSRecordCreate, Narrowable: true,
	})
	ListDNSRecords = define[ListDNSRecordsRequest, Page[DNSRecord]]("GET /dns-records", "List DNS records", Spec{
		ID: "list-dns-records", Kind: dnsRecords, Capability: vocab.CapDNSRecordView, Narrowable: true,
	})
	GetDNSRecord = define[DNSRecordRequest, DNSRecord]("GET /dns-records/{dns_record_id}", "Read a DNS record", Spec{
		ID: "get-dns-record", Kind: dnsRecords, Capability: vocab.CapDNSRecordView, Narrowable: true,
	})
	UpdateDNSRecord = define[UpdateDNSRecordRequest, DNSRecord]("PATCH /dns-records/{dns_record_id}", "Change a DNS record's value, TTL or priority", Spec{
		ID: "update-dns-record", Kind: dnsRecords, Capability: vocab.CapDNSRecordUpdate, Narrowable: true,
	})
	DeleteDNSRecord = defineEmpty[DNSRecordRequest]("DELETE /dns-records/{dns_record_id}", "Delete a DNS record that is not system-managed", Spec{
		ID: "delete-dns-record", Kind: dnsRecords, Capability: vocab.CapDNSRecordDelete, Narrowable: true,
	})
)

// DefaultDNSTTL is the TTL of a record created without a TTL, in seconds.
const DefaultDNSTTL int64 = 3600
