package mailboxset

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// listing is what a domain's list of mailboxes had at one moment.
type listing struct {
	byID        map[string]*api.Mailbox
	byLocalPart map[string]*api.Mailbox
}

// list reads the mailboxes of a domain, by name or id.
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

// any returns a mailbox of the list, or nil.
func (l *listing) any() *api.Mailbox {
	for _, m := range l.byID {
		return m
	}
	return nil
}

// of returns the mailbox of an entry: the one with its id, if that still has the address
// of its key.
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

// refreshed is the key of the listing of a refresh in the walk's notes, which the plan of
// the same walk uses. planned is that of the plan of a new set, which its create uses: the
// two calls follow one another.
type (
	refreshed struct{ domainID string }
	planned   struct{ domain string }
)

func canonicalDomain(ref string) string {
	if canonical, err := customtype.DomainRef.Normalize(ref); err == nil {
		return canonical
	}
	return ref
}

// object identifies the mailbox of an entry in the walk, as the resource mailhost_mailbox
// does.
func object(id string) service.Object {
	return service.Object{Type: "mailhost_mailbox", ID: id, IsValuable: true, MayBeReleased: true}
}
