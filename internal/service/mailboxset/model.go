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
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

type model struct {
	service.InDomain

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
	return m.DomainLabel(m.Domain.ValueString(), m.DomainName.ValueString(), m.ID.ValueString())
}

// The values of retired: delete or keep the mailbox of an entry that leaves the map.
const (
	retiredDelete = "delete"
	retiredKeep   = "keep"
)

// retirement divides the mailboxes that leave the map into deleted and kept ones. unnamed contains the
// deleted mailboxes that retired does not name; max_deletions limits them. After an import, if all of
// retired is known, mailboxes that it does not name are kept: the map may never have contained them.
func (m model) retirement(leaving []item, imported bool) (deleted, unnamed, kept []item) {
	imported = imported && !m.hasUnknownRetired()
	how := m.retiring()
	for _, i := range leaving {
		switch how := how[i.localPart()]; {
		case how == retiredDelete:
			deleted = append(deleted, i)
		case how == "" && !imported:
			deleted, unnamed = append(deleted, i), append(unnamed, i)
		default:
			kept = append(kept, i)
		}
	}
	return deleted, unnamed, kept
}

// retiring returns the known values of retired by [localPart]. validateConfig refuses two keys of one
// address; in an older state, "keep" applies.
func (m model) retiring() map[string]string {
	all := make(map[string]string, len(m.Retired.Elements()))
	for key, value := range m.Retired.Elements() {
		how, ok := value.(types.String)
		if part := localPart(key); ok && how.ValueString() != "" && all[part] != retiredKeep {
			all[part] = how.ValueString()
		}
	}
	return all
}

// hasUnknownRetired reports whether only the apply will know all values of retired.
func (m model) hasUnknownRetired() bool {
	return m.Retired.IsUnknown() || slices.ContainsFunc(slices.Collect(maps.Values(m.Retired.Elements())), attr.Value.IsUnknown)
}

// entry is an element of mailboxes. An optional attribute must be a pointer with omitempty: after an import, an
// entry with null differs from one without the attribute.
type entry struct {
	FirstName compact.Text `json:"first_name"`
	LastName  compact.Text `json:"last_name"`

	// configured is the configured JSON, which may contain more than the names. It is returned
	// to Terraform unchanged.
	configured json.RawMessage
}

// field is an attribute of an entry.
type field struct {
	name  string
	value *compact.Text
}

func (e *entry) fields() []field {
	return []field{{"first_name", &e.FirstName}, {"last_name", &e.LastName}}
}

func (e *entry) UnmarshalJSON(data []byte) error {
	*e = entry{configured: bytes.Clone(data)}
	var values map[string]json.RawMessage // a struct would accept First_Name too
	err := json.Unmarshal(data, &values)
	for _, f := range e.fields() {
		*f.value = compact.Text{Null: true}
		if value, ok := values[f.name]; ok {
			err = errors.Join(err, json.Unmarshal(value, f.value))
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

// same reports whether an entry equals a known entry, except for spaces that the API trims.
func (e entry) same(o entry) bool {
	isSame := func(a, b compact.Text) bool {
		return !a.Unknown && strings.TrimSpace(a.Value) == strings.TrimSpace(b.Value)
	}
	return isSame(e.FirstName, o.FirstName) && isSame(e.LastName, o.LastName)
}

// entryOf returns the entry of a mailbox. Its names are in NFC, like all strings in Terraform.
func entryOf(m *api.Mailbox) entry {
	return entry{FirstName: compact.Text{Value: norm.NFC.String(m.FirstName)}, LastName: compact.Text{Value: norm.NFC.String(m.LastName)}}
}

// item is a mailbox of a set.
type item struct {
	key         string // of mailboxes, as configured
	entry       entry
	address, id compact.Text
}

// localPart returns the form of a key for comparisons.
func localPart(key string) string { return strings.ToLower(key) }

func (i item) localPart() string { return localPart(i.key) }

// addresses returns the addresses of mailboxes, for a message.
func addresses(items []item) []string {
	list := make([]string, len(items))
	for n, i := range items {
		list[n] = cmp.Or(i.address.Value, i.key)
	}
	return list
}

// contents holds the decoded values of a model: the mailboxes of the map by their [localPart], and
// the addresses of unmanaged mailboxes.
type contents struct {
	items     map[string]item
	unmanaged []string
}

// contents decodes the model's values. Null and unknown values become empty.
func (m model) contents(diags *diag.Diagnostics) *contents {
	entries := decode[map[string]entry](m.Mailboxes, diags)
	addresses, ids := decode[map[string]compact.Text](m.Addresses, diags), decode[map[string]compact.Text](m.IDs, diags)
	c := &contents{make(map[string]item, len(entries)), decode[[]string](m.Unmanaged, diags)}
	// In this order, because an apply may learn two keys of one address, which no validation has seen.
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		c.put(item{key, entries[key], addresses[key], ids[key]})
	}
	return c
}

func decode[T any](from types.String, diags *diag.Diagnostics) T {
	v, err := compact.Decode[T](from)
	if err != nil {
		diags.AddError("Unreadable value", err.Error()+". This is a bug in the provider.")
	}
	return v
}

func (c *contents) put(i item) { c.items[i.localPart()] = i }

func (c *contents) sorted() []item {
	return slices.SortedFunc(maps.Values(c.items), func(a, b item) int { return strings.Compare(a.key, b.key) })
}

func (m *model) set(c *contents) {
	entries, addresses, ids := make(map[string]entry, len(c.items)), make(map[string]compact.Text, len(c.items)), make(map[string]compact.Text, len(c.items))
	for _, i := range c.items {
		entries[i.key], addresses[i.key], ids[i.key] = i.entry, i.address, i.id
	}
	m.Mailboxes, m.Addresses, m.IDs = compact.Encode(entries), compact.Encode(addresses), compact.Encode(ids)
	m.Unmanaged = compact.Encode(append([]string{}, c.unmanaged...))
}

// changesOf returns the differences between a plan and the prior state, in the order of the
// keys. A kept item is the planned item with the address and the id of the state.
func changesOf(prior, plan *contents) (added, removed, kept []item) {
	for _, i := range plan.sorted() {
		before, ok := prior.items[i.localPart()]
		if !ok {
			added = append(added, i)
			continue
		}
		i.address, i.id = before.address, before.id
		kept = append(kept, i)
	}
	for _, i := range prior.sorted() {
		if _, ok := plan.items[i.localPart()]; !ok {
			removed = append(removed, i)
		}
	}
	return added, removed, kept
}

// listing contains the mailboxes of a domain, as once listed, by [localPart].
type listing map[string]*api.Mailbox

func list(ctx context.Context, c *client.Client, domain string) (listing, error) {
	l := listing{}
	for m, err := range c.ListMailboxes(ctx, api.ListMailboxesRequest{Domain: domain}) {
		if err != nil {
			return nil, err
		}
		l[localPart(m.LocalPart)] = &m
	}
	return l, nil
}

func itemOf(key string, e entry, m *api.Mailbox) item {
	return item{key, e, compact.Text{Value: m.PrimaryEmail}, compact.Text{Value: m.ID}}
}

// contents returns a set of all mailboxes.
func (l listing) contents() *contents {
	c := &contents{items: make(map[string]item, len(l))}
	for _, m := range l {
		c.put(itemOf(m.LocalPart, entryOf(m), m))
	}
	return c
}

// any returns a mailbox of the domain, always the same, or nil.
func (l listing) any() *api.Mailbox {
	if len(l) == 0 {
		return nil
	}
	return l[slices.Min(slices.Collect(maps.Keys(l)))]
}

// of returns the mailbox of an item of the state, or nil if its id no longer belongs to the address.
func (l listing) of(i item) *api.Mailbox {
	if m := l[i.localPart()]; m != nil && strings.EqualFold(m.ID, i.id.Value) {
		return m
	}
	return nil
}

// aliases returns the further addresses of mailboxes of the state.
func (l listing) aliases(items []item) (addresses []string) {
	for _, i := range items {
		if m := l.of(i); m != nil {
			for _, alias := range m.Aliases {
				addresses = append(addresses, alias.Alias)
			}
		}
	}
	return addresses
}

// without returns the sorted addresses of the mailboxes that c does not contain.
func (l listing) without(c *contents) (addresses []string) {
	for part, m := range l {
		if !strings.EqualFold(m.ID, c.items[part].id.Value) {
			addresses = append(addresses, m.PrimaryEmail)
		}
	}
	slices.Sort(addresses)
	return addresses
}

// match is an item to be created with its existing mailbox.
type match struct {
	item
	mailbox  *api.Mailbox
	conflict session.Conflict // the reason why a plan does not adopt the mailbox
}

// existing divides items to be created into items with an existing mailbox and items without.
func (l listing) existing(added []item) (existing []match, missing []item) {
	for _, i := range added {
		if m := l[i.localPart()]; m != nil {
			existing = append(existing, match{item: i, mailbox: m})
		} else {
			missing = append(missing, i)
		}
	}
	return existing, missing
}

// refreshed is the key in the walk's notes for the listing of a refresh, which the plan uses.
// planned is the key for the listing of the plan of a new set, which its create uses.
type (
	refreshed struct{ domainID string }
	planned   struct{ domain string }
)

// object identifies a mailbox in the walk, like the resource mailhost_mailbox.
func object(id string) session.Object {
	return session.Object{Type: "mailhost_mailbox", ID: id, IsValuable: true, MayBeReleased: true}
}

func at(key string) path.Path { return path.Root("mailboxes").AtMapKey(key) }

// validateConfig reports a wrong type of mailboxes, because Terraform does not know its type, and
// every invalid entry of mailboxes and retired.
func validateConfig(_ context.Context, config model, diags *diag.Diagnostics) {
	checkRetired(diags, config.Retired)
	entries, err := compact.Decode[map[string]json.RawMessage](config.Mailboxes)
	if err != nil {
		invalid(diags, mailboxesPath, "Invalid mailboxes", "must be a map from the part of each address before the @ to "+entryForm)
		return
	}
	byLocalPart, ignored := make(map[string]string, len(entries)), map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		canonical, err := emailaddr.ParseLocalPart(key)
		if err != nil {
			invalid(diags, at(key), "Invalid key of mailboxes", err.Error())
		} else if other, ok := byLocalPart[canonical]; ok {
			invalid(diags, at(key), "Two keys of mailboxes are the same address", sameAddress(other, key))
		}
		byLocalPart[canonical] = key
		checkEntry(diags, key, entries[key], ignored)
	}
	if len(ignored) > 0 {
		diags.AddAttributeWarning(mailboxesPath, "Mailboxes of "+cmp.Or(config.domain(), "a set")+" have attributes without a use",
			"A mailbox has first_name and last_name. These attributes of the entries are ignored, but Terraform stores them in its state: "+strings.Join(slices.Sorted(maps.Keys(ignored)), ", ")+
				". Leave them out of the entries.")
	}
}

// checkRetired checks the values of retired, and that no two keys are one address. A validator of the
// framework would report the values in the order of a Go map.
func checkRetired(diags *diag.Diagnostics, retired types.Map) {
	values, byLocalPart := retired.Elements(), map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		at, part := retiredPath.AtMapKey(key), localPart(key)
		if other, ok := byLocalPart[part]; ok {
			invalid(diags, at, "Two keys of retired are the same address", sameAddress(other, key))
		}
		byLocalPart[part] = key
		if how, ok := values[key].(types.String); ok && how.ValueString() != retiredDelete && how.ValueString() != retiredKeep && !how.IsNull() && !how.IsUnknown() {
			invalid(diags, at, "Invalid value of retired", fmt.Sprintf("must be %q or %q, and not %q", retiredDelete, retiredKeep, how.ValueString()))
		}
	}
}

func sameAddress(a, b string) string {
	return fmt.Sprintf("upper and lower case are the same in an address, so that %q and %q are one mailbox; remove one of them", a, b)
}

const entryForm = "an object with the strings first_name and last_name"

// checkEntry checks an entry, and adds the names of its unused attributes to ignored.
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
	for _, f := range e.fields() {
		delete(values, f.name)
		switch {
		case f.value.Unknown:
		case f.value.Null:
			invalid(diags, at(key).AtName(f.name), "Missing "+f.name, "is required")
		default:
			if err := api.FieldOf[api.CreateMailboxBody](f.name).Check(f.value.Value).Rule(); err != nil {
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
