package simulate

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

// inventory returns what an account has, in the form of largeConfiguration.want.
func inventory(ctx context.Context, c *client.Client) (map[string]int, error) {
	has := map[string]int{}
	domains := map[string]string{}
	for d, err := range c.ListDomains(ctx, api.ListDomainsRequest{}) {
		if err != nil {
			return nil, err
		}
		domains[d.ID] = d.Name
		url := ""
		if d.RedirectURL != nil {
			url = *d.RedirectURL
		}
		has[fmt.Sprintf("domain %s auto_renew=%v redirect=%s", d.Name, d.AutoRenew, url)]++
		err := collect(has, c.ListDNSRecords(ctx, api.ListDNSRecordsRequest{Domain: d.ID}), func(r api.DNSRecord) string {
			if r.IsSystemManaged {
				return ""
			}
			priority := ""
			if r.Priority != nil {
				priority = fmt.Sprintf("%d ", *r.Priority)
			}
			return fmt.Sprintf("record %s %s %s %s%s %d", d.Name, r.Name, r.Type, priority, r.Value, r.TTL)
		})
		if err != nil {
			return nil, err
		}
	}
	for _, list := range []func() error{
		func() error {
			return collect(has, c.ListMailboxes(ctx, api.ListMailboxesRequest{}), func(m api.Mailbox) string {
				return fmt.Sprintf("mailbox %s %s %s", m.PrimaryEmail, m.FirstName, m.LastName)
			})
		},
		func() error {
			return collect(has, c.ListForwarding(ctx, api.ListForwardingRequest{}), func(f api.Forwarding) string {
				return fmt.Sprintf("rule %s to %s", domains[f.ScopeID], f.TargetEmail)
			})
		},
		func() error {
			return collect(has, c.ListMasterPasswords(ctx, api.ListMasterPasswordsRequest{}), func(p api.MasterPassword) string {
				return fmt.Sprintf("master password %s of %s", p.Name, domains[p.ScopeID])
			})
		},
		func() error {
			return collect(has, c.ListServiceAccounts(ctx), func(a api.ServiceAccount) string {
				if a.RevokedAt != nil || a.Name == ownerName {
					return ""
				}
				return "service account " + a.Name
			})
		},
		func() error {
			return collect(has, c.ListDedicatedIPs(ctx, api.ListDedicatedIPsRequest{}), func(ip api.DedicatedIP) string {
				return "dedicated ip"
			})
		},
	} {
		if err := list(); err != nil {
			return nil, err
		}
	}
	return has, nil
}

// collect counts the descriptions of a list's objects; "" is not counted.
func collect[T any](has map[string]int, list iter.Seq2[T, error], describe func(T) string) error {
	for one, err := range list {
		if err != nil {
			return err
		}
		if text := describe(one); text != "" {
			has[text]++
		}
	}
	return nil
}

// compare returns what an account has too much and too little.
func compare(has, want map[string]int) (surplus, missing []string) {
	all := maps.Clone(has)
	maps.Copy(all, want)
	for _, text := range slices.Sorted(maps.Keys(all)) {
		for range has[text] - want[text] {
			surplus = append(surplus, text)
		}
		for range want[text] - has[text] {
			missing = append(missing, text)
		}
	}
	return surplus, missing
}

// tally counts what was created and deleted in an account, by type, for the types whose
// objects keep their name.
type tally struct{ created, deleted map[string]int }

func newTally() tally { return tally{map[string]int{}, map[string]int{}} }

// auditKind returns the type of an object of an inventory in the audit log, and its name; ""
// if a tally does not have its type.
func auditKind(object string) (typ, name string) {
	words := strings.Fields(object)
	switch words[0] {
	case "mailbox", "domain":
		return words[0], words[1]
	case "dedicated":
		return "dedicated_ip", ""
	}
	return "", ""
}

// expect adds what a change from one inventory to another creates and deletes.
func (t tally) expect(before, after map[string]int) {
	names := map[[2]string]int{}
	for _, side := range []struct {
		inventory map[string]int
		sign      int
	}{{before, -1}, {after, 1}} {
		for object, n := range side.inventory {
			if typ, name := auditKind(object); typ != "" {
				names[[2]string{typ, name}] += side.sign * n
			}
		}
	}
	for name, n := range names {
		t.created[name[0]] += max(n, 0)
		t.deleted[name[0]] += max(-n, 0)
	}
}

// tallyOf counts in the audit log.
func tallyOf(ctx context.Context, db store.Store) (t tally, err error) {
	err = db.View(ctx, func(r store.Reader) error {
		t = newTally()
		return r.EachAuditEntry(store.AuditFilter{}, func(e store.AuditEntry) error {
			for _, change := range e.Changes {
				switch change.Action {
				case store.AuditCreated:
					t.created[change.Type]++
				case store.AuditDeleted:
					t.deleted[change.Type]++
				}
			}
			return nil
		})
	})
	return t, err
}

// differences describes how a tally differs from the expected one.
func (t tally) differences(want tally) (differences []string) {
	for _, typ := range slices.Sorted(maps.Keys(want.created)) {
		if t.created[typ] != want.created[typ] {
			differences = append(differences, fmt.Sprintf("%d of type %s were created, want %d", t.created[typ], typ, want.created[typ]))
		}
		if t.deleted[typ] != want.deleted[typ] {
			differences = append(differences, fmt.Sprintf("%d of type %s were deleted, want %d", t.deleted[typ], typ, want.deleted[typ]))
		}
	}
	return differences
}

// paid returns the number of purchases.
func (t tally) paid() int { return t.created["domain"] + t.created["dedicated_ip"] }
