package account

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"strconv"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/random"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// dnsRecordOperations binds the operations on DNS records to their rules.
var dnsRecordOperations = []Operation{
	change(api.CreateDNSRecord, createDNSRecord),
	read(api.ListDNSRecords, listDNSRecords),
	read(api.GetDNSRecord, getDNSRecord),
	change(api.UpdateDNSRecord, updateDNSRecord),
	remove(api.DeleteDNSRecord, deleteDNSRecord),
}

func createDNSRecord(c *Call, tx store.Tx, in *api.CreateDNSRecordRequest) (*api.DNSRecord, error) {
	d, err := c.usableDomain(tx, in.Body.Domain)
	if err != nil {
		return nil, err
	}
	name, err := dnsdata.NormalizeName(in.Body.Name, d.Name)
	if err != nil {
		return nil, api.Unprocessable(api.Invalid("%s", err).InBody("name"))
	}
	record := store.DNSRecord{
		AccountID: d.AccountID, DomainID: d.ID, DomainName: d.Name, Name: name, Type: in.Body.Type, Value: in.Body.Value,
		TTL: *in.Body.TTL, Priority: in.Body.Prio, CreatedAt: c.Arrival,
	}
	if p := CheckTarget(record); p != nil {
		return nil, api.Unprocessable(p)
	}
	if err := c.checkBeside(tx, record); err != nil {
		return nil, err
	}
	err = AddRecord(c.Rules.Random, tx, &record)
	return new(dnsRecord(record)), c.recordConflict(tx, err, record)
}

// typeCNAME excludes other records at its name (RFC 1034, section 3.6.2).
const typeCNAME = "CNAME"

// CheckTarget refuses a CNAME that points to itself.
func CheckTarget(record store.DNSRecord) *api.Problem {
	if record.Type == typeCNAME && dnsdata.EqualsTarget(record.Name, record.DomainName, record.Value) {
		return api.Invalid("a CNAME must not point to its own name").InBody("value")
	}
	return nil
}

// checkBeside returns a conflict if an existing record excludes the record.
func (c *Call) checkBeside(r store.Reader, record store.DNSRecord) error {
	other, rule, err := Excluding(r, record)
	if err != nil || other == nil {
		return err
	}
	return api.Conflict("the name %s of %s has the %s record%s; %s", record.Name, record.DomainName, other.Type,
		c.existingID(r, vocab.CapDNSRecordView, domainScope(record.DomainID), " ", strconv.FormatInt(other.ID, 10)), rule)
}

// Excluding returns an existing record with the same name that excludes the given one, and the
// rule, or nil. The store rejects an identical record.
func Excluding(r store.Reader, record store.DNSRecord) (other *store.DNSRecord, rule string, err error) {
	filter, slice := store.DNSRecordFilter{DomainID: record.DomainID, Name: record.Name, Special: true}, store.Slice{Limit: math.MaxInt32}
	if record.Type == typeCNAME { // any other record excludes it; one of the two may be the record itself
		filter.Special, slice.Limit = false, 2
	}
	others, _, err := r.DNSRecords(record.AccountID, filter, slice)
	for _, other := range others {
		if rule := exclusion(record, other); rule != "" && other.ID != record.ID {
			return &other, rule, nil
		}
	}
	return nil, "", err
}

// exclusion returns the rule that forbids two records at one name, or "". A record replaces a
// system-managed record with the same purpose, see store.DNSRecord; the DKIM key's purpose is
// empty.
func exclusion(a, b store.DNSRecord) string {
	purpose := dnsdata.PurposeOf(a.Type, a.Value)
	samePurpose := purpose != "" && purpose == dnsdata.PurposeOf(b.Type, b.Value)
	switch {
	case isIdentical(a, b), samePurpose && a.SystemManaged != b.SystemManaged:
		return ""
	case a.Type == typeCNAME, b.Type == typeCNAME:
		return "a CNAME excludes other records at its name"
	case a.Type != b.Type:
		return ""
	case isSystemKey(a) != isSystemKey(b):
		return "of two DKIM keys at one name, verifiers may take the wrong one; choose another selector"
	case dnsdata.IsNullMX(a.Type, a.Value), dnsdata.IsNullMX(b.Type, b.Value):
		return "a null MX excludes other MX records at its name (RFC 7505)"
	case samePurpose && purpose.Single():
		return fmt.Sprintf("a name has at most one %s record, because receivers ignore both of two; change that record instead", purpose)
	}
	return ""
}

// isSystemKey reports whether a record is the DKIM key that every domain comes with.
func isSystemKey(r store.DNSRecord) bool {
	return r.SystemManaged && dnsdata.PurposeOf(r.Type, r.Value) == ""
}

func isIdentical(a, b store.DNSRecord) bool {
	return a.Type == b.Type && a.Value == b.Value && reflect.DeepEqual(a.Priority, b.Priority)
}

// recordConflict converts the error for an identical record to a conflict.
func (c *Call) recordConflict(r store.Reader, err error, record store.DNSRecord) error {
	return c.ifExists(r, err, vocab.CapDNSRecordView, domainScope(record.DomainID), " with the id ",
		"an identical %s record at %s exists already", record.Type, record.Name)
}

func listDNSRecords(c *Call, r store.Reader, in *api.ListDNSRecordsRequest) (*api.Page[api.DNSRecord], error) {
	d, err := c.domainFilter(r, in.Domain)
	if err != nil {
		return nil, err
	}
	filter := store.DNSRecordFilter{DomainID: d.ID, Type: in.Type, Within: c.within()}
	if in.Name != "" {
		if filter.Name, err = dnsdata.NormalizeName(in.Name, d.Name); err != nil {
			filter.DomainID = noDomain // no record matches an invalid name
		}
	}
	return page(c, in.Paged, dnsRecord, r.DNSRecords, filter)
}

func getDNSRecord(c *Call, r store.Reader, in *api.DNSRecordRequest) (*api.DNSRecord, error) {
	record, err := c.findDNSRecord(r, in.DNSRecordID)
	return new(dnsRecord(record)), err
}

func updateDNSRecord(c *Call, tx store.Tx, in *api.UpdateDNSRecordRequest) (*api.DNSRecord, error) {
	record, err := store.Update(tx, c.Caller.AccountID, in.DNSRecordID, func(record *store.DNSRecord) error {
		if err := c.ifVisible(nil, record.WorkspaceID, record.DomainID); err != nil {
			return err
		}
		if record.SystemManaged {
			return systemManaged(*record)
		}
		before := record.Value
		if err := setRecord(record, in.Body); err != nil {
			return err
		}
		record.UpdatedAt = c.Arrival
		if record.Value == before {
			return nil
		}
		return c.checkBeside(tx, *record)
	})
	return new(dnsRecord(record)), c.recordConflict(tx, err, record)
}

// setRecord applies the changes of a request if the record's type and zone allow them.
func setRecord(record *store.DNSRecord, body api.UpdateDNSRecordBody) error {
	var problems []*api.Problem
	if body.Value != nil {
		canonical, err := dnsdata.NormalizeValue(record.Type, *body.Value)
		if err != nil {
			problems = append(problems, api.Invalid("%s", err).InBody("value"))
		}
		record.Value = canonical
		if p := CheckTarget(*record); p != nil {
			problems = append(problems, p)
		}
	}
	if body.Prio != nil {
		if p := api.CheckPriority(record.Type, true); p != nil {
			problems = append(problems, p.InBody("prio"))
		}
		record.Priority = body.Prio
	}
	if body.TTL != nil {
		record.TTL = *body.TTL
	}
	if problems != nil {
		return api.Unprocessable(problems...)
	}
	return nil
}

func deleteDNSRecord(c *Call, tx store.Tx, in *api.DNSRecordRequest) error {
	record, err := c.findDNSRecord(tx, in.DNSRecordID)
	if err != nil {
		return err
	}
	if record.SystemManaged {
		return systemManaged(record)
	}
	return store.Delete[store.DNSRecord](tx, record.AccountID, record.ID, c.Arrival)
}

func systemManaged(record store.DNSRecord) error {
	return api.Conflict("the %s record %d at %s of %s is system-managed; it lives as long as its domain", record.Type, record.ID, record.Name, record.DomainName)
}

func (c *Call) findDNSRecord(r store.Reader, id int64) (store.DNSRecord, error) {
	record, err := store.Get[store.DNSRecord](r, c.Caller.AccountID, id)
	return record, c.ifVisible(err, record.WorkspaceID, record.DomainID)
}

// AddMailRecords creates the system-managed mail records of a new domain. The private DKIM key (RFC
// 8463) is discarded: the server signs no mail.
func AddMailRecords(source *random.Source, tx store.Tx, d store.Domain) error {
	key := ed25519.NewKeyFromSeed(source.Bytes(ed25519.SeedSize)).Public().(ed25519.PublicKey)
	for _, record := range []store.DNSRecord{
		{Name: "@", Type: "MX", Value: "mx1.mailhost.example", Priority: new(int64(10))},
		{Name: "@", Type: "MX", Value: "mx2.mailhost.example", Priority: new(int64(20))},
		{Name: "@", Type: "TXT", Value: "v=spf1 include:_spf.mailhost.example ~all"},
		{Name: "mailhost._domainkey", Type: "TXT", Value: "v=DKIM1; k=ed25519; p=" + base64.StdEncoding.EncodeToString(key)},
		{Name: "_dmarc", Type: "TXT", Value: "v=DMARC1; p=none"},
	} {
		record.AccountID, record.DomainID, record.DomainName, record.CreatedAt = d.AccountID, d.ID, d.Name, d.CreatedAt
		record.TTL, record.SystemManaged = api.DefaultDNSTTL, true
		if err := AddRecord(source, tx, &record); err != nil {
			return err
		}
	}
	return nil
}

// AddRecord creates a record with a random id: a positive integer below 2^53 (RFC 8259, section 6).
func AddRecord(source *random.Source, tx store.Tx, record *store.DNSRecord) error {
	record.ID = max(1, int64(binary.BigEndian.Uint64(source.Bytes(8))>>11))
	return tx.Create(record)
}

func dnsRecord(r store.DNSRecord) api.DNSRecord {
	return api.DNSRecord{
		ID: r.ID, Name: r.Name, Type: r.Type, Value: r.Value, TTL: r.TTL, Priority: r.Priority, IsSystemManaged: r.SystemManaged,
	}
}
