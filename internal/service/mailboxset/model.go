package mailboxset

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"golang.org/x/text/unicode/norm"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/emailaddr"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/compact"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

type model struct {
	ID           types.String      `tfsdk:"id"`
	Domain       customtype.String `tfsdk:"domain"`
	DomainName   types.String      `tfsdk:"domain_name"`
	Mailboxes    types.String      `tfsdk:"mailboxes"`
	Addresses    types.String      `tfsdk:"addresses"`
	IDs          types.String      `tfsdk:"ids"`
	Unmanaged    types.String      `tfsdk:"unmanaged"`
	MaxDeletions types.Int64       `tfsdk:"max_deletions"`
	Retired      types.Map         `tfsdk:"retired"`
	OnExisting   types.String      `tfsdk:"on_existing"`
	Timeouts     timeouts.Value    `tfsdk:"timeouts"`
}

func (m *model) setDomain(d *api.Domain) {
	m.ID, m.DomainName = types.StringValue(d.ID), types.StringValue(d.Name)
	m.Domain = customtype.KeepDomainRef(m.Domain, d.ID, d.Name)
}

func (m model) String() string {
	return "mailbox set of " + m.domain()
}

func (m model) domain() string {
	return cmp.Or(m.DomainName.ValueString(), m.Domain.ValueString(), m.ID.ValueString())
}

// The values of retired: what happens to a mailbox whose entry leaves the map.
const (
	retiredDelete = "delete"
	retiredKeep   = "keep"
)

// retirement divides keys that leave the map by whether their mailboxes are deleted or kept. After an
// import, only those are deleted that retired names, or may name: the map may never have had the others.
func (m model) retirement(keys []string, imported bool) (deleted, kept []string) {
	imported = imported && !m.hasUnknownRetired()
	how := m.retiredAs()
	for _, key := range keys {
		switch how := how[localPart(key)]; {
		case how == retiredDelete, how == "" && !imported:
			deleted = append(deleted, key)
		default:
			kept = append(kept, key)
		}
	}
	return deleted, kept
}

// unnamed returns the keys of deleted mailboxes that retired does not name, which max_deletions
// limits.
func (m model) unnamed(deleted []string) (keys []string) {
	how := m.retiredAs()
	for _, key := range deleted {
		if how[localPart(key)] != retiredDelete {
			keys = append(keys, key)
		}
	}
	return keys
}

// hasUnknownRetired reports whether only the apply will know what retired says.
func (m model) hasUnknownRetired() bool {
	return m.Retired.IsUnknown() || slices.ContainsFunc(slices.Collect(maps.Values(m.Retired.Elements())), attr.Value.IsUnknown)
}

// retiredAs returns the known values of retired by the [localPart] of their keys.
func (m model) retiredAs() map[string]string {
	how := make(map[string]string, len(m.Retired.Elements()))
	for key, value := range m.Retired.Elements() {
		if text, ok := value.(types.String); ok {
			how[localPart(key)] = text.ValueString()
		}
	}
	return how
}

// entry is an element of mailboxes.
type entry struct {
	FirstName compact.Text `json:"first_name"`
	LastName  compact.Text `json:"last_name"`

	// configured is the JSON of the configuration, which may have more than the names. An
	// entry goes back to Terraform as it was.
	configured json.RawMessage
}

// fields are the attributes of an entry: where it has them, a mailbox's value, and the API's limits.
var fields = []struct {
	name   string
	in     func(*entry) *compact.Text
	of     func(*api.Mailbox) string
	limits api.Limits
}{
	{"first_name", func(e *entry) *compact.Text { return &e.FirstName }, func(m *api.Mailbox) string { return m.FirstName }, api.LimitsOf[api.CreateMailboxBody]("first_name")},
	{"last_name", func(e *entry) *compact.Text { return &e.LastName }, func(m *api.Mailbox) string { return m.LastName }, api.LimitsOf[api.CreateMailboxBody]("last_name")},
}

func (e *entry) UnmarshalJSON(data []byte) error {
	*e = entry{configured: bytes.Clone(data)}
	var values map[string]json.RawMessage // a struct would accept First_Name too
	err := json.Unmarshal(data, &values)
	for _, f := range fields {
		*f.in(e) = compact.Text{Null: true}
		if value, ok := values[f.name]; ok {
			err = errors.Join(err, json.Unmarshal(value, f.in(e)))
		}
	}
	return err
}

func (e entry) MarshalJSON() ([]byte, error) {
	if e.configured != nil {
		return e.configured, nil
	}
	type plain entry
	return json.Marshal(plain(e))
}

// same reports whether an entry has the same names as a known one. The API may trim them.
func (e entry) same(o entry) bool {
	for _, f := range fields {
		if f.in(&e).Unknown || strings.TrimSpace(f.in(&e).Value) != strings.TrimSpace(f.in(&o).Value) {
			return false
		}
	}
	return true
}

// entryOf returns the entry of a mailbox. Its names are in NFC, as Terraform has all strings.
func entryOf(m *api.Mailbox) (e entry) {
	for _, f := range fields {
		f.in(&e).Value = norm.NFC.String(f.of(m))
	}
	return e
}

// contents are the decoded values of a model, by the keys of the configuration.
type contents struct {
	entries    map[string]entry
	addresses  map[string]compact.Text
	ids        map[string]compact.Text
	unmanaged  []string
	byIdentity map[string]string // the key of each entry, by its localPart
}

// localPart returns the form of a key in which keys are compared.
func localPart(key string) string { return strings.ToLower(key) }

func newContents() *contents {
	return &contents{entries: map[string]entry{}, addresses: map[string]compact.Text{}, ids: map[string]compact.Text{}, byIdentity: map[string]string{}}
}

// contents decodes the model's values. Those that are null or unknown are empty.
func (m model) contents(diags *diag.Diagnostics) *contents {
	c := newContents()
	decode(m.Mailboxes, &c.entries, diags)
	decode(m.Addresses, &c.addresses, diags)
	decode(m.IDs, &c.ids, diags)
	decode(m.Unmanaged, &c.unmanaged, diags)
	for key := range c.entries {
		c.byIdentity[localPart(key)] = key
	}
	return c
}

func decode[T any](from types.String, to *T, diags *diag.Diagnostics) {
	if from.IsNull() || from.IsUnknown() {
		return
	}
	v, err := compact.Decode[T](from)
	if err != nil {
		diags.AddError("Unreadable value", err.Error()+". This is a bug in the provider.")
		return
	}
	*to = v
}

func (c *contents) put(key string, e entry, address, id string) {
	c.entries[key], c.byIdentity[localPart(key)] = e, key
	c.addresses[key], c.ids[key] = compact.Text{Value: address}, compact.Text{Value: id}
}

// keep adds an entry of other, under a key of its own.
func (c *contents) keep(key string, e entry, other *contents, otherKey string) {
	c.put(key, e, other.addresses[otherKey].Value, other.ids[otherKey].Value)
}

func (m *model) set(c *contents) {
	m.Mailboxes, m.Addresses, m.IDs = compact.Encode(c.entries), compact.Encode(c.addresses), compact.Encode(c.ids)
	m.setUnmanaged(c.unmanaged)
}

func (m *model) setUnmanaged(addresses []string) {
	if addresses == nil {
		addresses = []string{}
	}
	m.Unmanaged = compact.Encode(addresses)
}

// addressList returns the addresses of keys, for a message.
func (c *contents) addressList(keys []string) []string {
	list := make([]string, len(keys))
	for i, key := range keys {
		list[i] = cmp.Or(c.addresses[key].Value, key)
	}
	return list
}

// changes are the differences between a plan and the state before it. Each list has keys
// in alphabetical order.
type changes struct {
	added   []string          // keys of the plan
	removed []string          // keys of the state
	kept    map[string]string // the key in the state, by the key in the plan
}

func changesOf(prior, plan *contents) changes {
	c := changes{kept: make(map[string]string, len(plan.entries))}
	for _, key := range sortedKeys(plan.entries) {
		before, ok := prior.byIdentity[localPart(key)]
		if !ok {
			c.added = append(c.added, key)
			continue
		}
		c.kept[key] = before
	}
	for _, key := range sortedKeys(prior.entries) {
		if _, ok := plan.byIdentity[localPart(key)]; !ok {
			c.removed = append(c.removed, key)
		}
	}
	return c
}

// listing is what a domain's list of mailboxes had at one moment.
type listing struct {
	byID        map[string]*api.Mailbox
	byLocalPart map[string]*api.Mailbox
}

func list(ctx context.Context, c *client.Client, domain string) (*listing, error) {
	l := &listing{byID: map[string]*api.Mailbox{}, byLocalPart: map[string]*api.Mailbox{}}
	for m, err := range c.ListMailboxes(ctx, api.ListMailboxesRequest{Domain: domain}) {
		if err != nil {
			return nil, err
		}
		if customtype.RefersTo(domain, m.DomainID, m.DomainName) { // an API may ignore the filter
			l.byID[strings.ToLower(m.ID)], l.byLocalPart[localPart(m.LocalPart)] = &m, &m
		}
	}
	return l, nil
}

// contents returns a set of all mailboxes.
func (l *listing) contents() *contents {
	c := newContents()
	for _, m := range l.byID {
		c.put(m.LocalPart, entryOf(m), m.PrimaryEmail, m.ID)
	}
	return c
}

func (l *listing) any() *api.Mailbox {
	for _, m := range l.byID {
		return m
	}
	return nil
}

// of returns the mailbox with the id of an entry, if it still has the address of the key.
func (l *listing) of(c *contents, key string) *api.Mailbox {
	if m := l.byID[strings.ToLower(c.ids[key].Value)]; m != nil && localPart(m.LocalPart) == localPart(key) {
		return m
	}
	return nil
}

// without returns the addresses of the mailboxes that are no entries of c, sorted.
func (l *listing) without(c *contents) []string {
	managed := make(map[string]bool, len(c.ids))
	for _, id := range c.ids {
		managed[strings.ToLower(id.Value)] = true
	}
	addresses := []string{}
	for id, m := range l.byID {
		if !managed[id] {
			addresses = append(addresses, m.PrimaryEmail)
		}
	}
	slices.Sort(addresses)
	return addresses
}

// existing returns the mailboxes that keys to be created have already, by key.
func (l *listing) existing(keys []string) map[string]*api.Mailbox {
	found := map[string]*api.Mailbox{}
	for _, key := range keys {
		if m := l.byLocalPart[localPart(key)]; m != nil {
			found[key] = m
		}
	}
	return found
}

func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

// refreshed is the key of the listing of a refresh in the walk's notes, for the plan that
// follows. planned is that of the plan of a new set, for its create.
type (
	refreshed struct{ domainID string }
	planned   struct{ domain string }
)

func canonicalDomain(ref string) string {
	canonical, _ := customtype.DomainRef.Normalize(ref) // the validation refuses an invalid one
	return canonical
}

// object identifies a mailbox in the walk, as the resource mailhost_mailbox does.
func object(id string) session.Object {
	return session.Object{Type: "mailhost_mailbox", ID: id, IsValuable: true, MayBeReleased: true}
}

func at(key string) path.Path { return path.Root("mailboxes").AtMapKey(key) }

// validateConfig reports every invalid entry of mailboxes, and the wrong type, because to
// Terraform mailboxes has none.
func validateConfig(_ context.Context, config model, diags *diag.Diagnostics) {
	entries, err := compact.Decode[map[string]json.RawMessage](config.Mailboxes)
	if err != nil {
		invalid(diags, mailboxesPath, "Invalid mailboxes", "must be a map from the part of each address before the @ to "+entryForm)
		return
	}
	byLocalPart, ignored := make(map[string]string, len(entries)), map[string]bool{}
	for _, key := range sortedKeys(entries) {
		canonical, err := emailaddr.ParseLocalPart(key)
		if err != nil {
			invalid(diags, at(key), "Invalid key of mailboxes", err.Error())
		} else if other, ok := byLocalPart[canonical]; ok {
			invalid(diags, at(key), "Two keys of mailboxes are the same address",
				fmt.Sprintf("upper and lower case are the same in an address, so that %q and %q are one mailbox; remove one of them", other, key))
		}
		byLocalPart[canonical] = key
		checkEntry(diags, key, entries[key], ignored)
	}
	if len(ignored) > 0 {
		diags.AddAttributeWarning(mailboxesPath, "Mailboxes of "+cmp.Or(config.domain(), "a set")+" have attributes without a use",
			"A mailbox has first_name and last_name. These attributes of the entries are ignored, but Terraform stores them in its state: "+strings.Join(sortedKeys(ignored), ", ")+
				". Leave them out of the entries.")
	}
}

const entryForm = "an object with the strings first_name and last_name"

// checkEntry checks an entry, and adds the names of attributes that have no use.
func checkEntry(diags *diag.Diagnostics, key string, data json.RawMessage, ignored map[string]bool) {
	var e entry
	if err := json.Unmarshal(data, &e); err != nil || string(data) == "null" {
		invalid(diags, at(key), "Invalid entry of mailboxes", "must be "+entryForm)
		return
	}
	if compact.IsUnknown(data) {
		return
	}
	var values map[string]json.RawMessage
	_ = json.Unmarshal(data, &values) // decoded above
	for _, f := range fields {
		delete(values, f.name)
		switch value := f.in(&e); {
		case value.Unknown:
		case value.Null:
			invalid(diags, at(key).AtName(f.name), "Missing "+f.name, "is required")
		default:
			if err := f.limits.Check(value.Value); err != nil {
				invalid(diags, at(key).AtName(f.name), "Invalid "+f.name, err.Error())
			}
		}
	}
	for name := range values {
		ignored[name] = true
	}
}

// invalid adds an error with the path in its text, because older CLIs show the first line
// of the resource in place of the path.
func invalid(diags *diag.Diagnostics, at path.Path, summary, reason string) {
	diags.AddAttributeError(at, summary, at.String()+": "+reason+".")
}
