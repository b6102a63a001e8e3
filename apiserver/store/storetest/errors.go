package storetest

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// DatabaseErrors checks that each method of a transaction returns the error of each of its
// statements. failing runs an update whose nth statement fails, undoes it, and reports whether there
// was an nth statement.
func DatabaseErrors(t *testing.T, s store.Store, failing func(n int, fn func(store.Tx) error) (failed bool, err error)) {
	h := &harness{T: t, store: s}
	a := h.full("a.example")
	alias := h.newMailbox(tenant{a.account, a.workspace, h.domain(a.account, a.workspace, "b.example")}, "eve")
	alias.Aliases = []store.MailboxAlias{{Alias: "eve@a.example"}}
	target := h.newForwarding(a.account, "eve@a.example", domainScope(a.domain))
	target.Internal = true
	h.create(&alias, &target)
	free := h.dedicatedIPOption(a.account, "192.0.2.7")
	var (
		mailbox = listed(h, mailboxes(a.account, store.MailboxFilter{}))[0]
		record  = listed(h, dnsRecords(a.account, store.DNSRecordFilter{}))[0]
		ip      = listed(h, dedicatedIPKind.list(a.account))[0]
		option  = listed(h, dedicatedIPOptionKind.list(a.account))[0]
		service = listed(h, serviceAccountKind.list(a.account))[0]
		grant   = read(h, func(r store.Reader) ([]store.Authorization, error) {
			return r.Authorizations(a.account, store.AuthorizationFilter{})
		})[0]
		user     = read(h, func(r store.Reader) ([]string, error) { return r.DomainsOfDedicatedIP(a.account, ip.ID) })[0]
		password = listed(h, masterPasswordKind.list(a.account))[0]
		rule     = listed(h, forwardingKind.list(a.account))[0]
		message  = store.QueuedMessage{AccountID: a.account, ForwardingID: rule.ID, DueAt: at(1)}
		page     = store.Slice{Offset: 1, Limit: 1}
		unpaid   = func(tx store.Tx) store.Tx { tx.HideUnpaid(at(9)); return tx }
	)
	calls := map[string]func(store.Tx) error{
		"Account":       func(tx store.Tx) error { return second(tx.Account(a.account)) },
		"Accounts":      func(tx store.Tx) error { return second(tx.Accounts()) },
		"Workspace":     func(tx store.Tx) error { return second(tx.Workspace(a.account, a.workspace)) },
		"Workspaces":    func(tx store.Tx) error { return third(tx.Workspaces(a.account, store.Within{}, page)) },
		"CreateAccount": func(tx store.Tx) error { return tx.CreateAccount(&store.Account{ID: h.id(), CreatedAt: epoch}) },
		"UpdateAccount": func(tx store.Tx) error {
			return second(tx.UpdateAccount(a.account, func(v *store.Account) error { v.PlanID = "p"; return nil }))
		},
		"CreateWorkspace": func(tx store.Tx) error {
			return tx.CreateWorkspace(&store.Workspace{ID: h.id(), AccountID: a.account, Name: "N", CreatedAt: epoch})
		},
		"ServiceAccount":           func(tx store.Tx) error { return second(tx.ServiceAccount(a.account, service.ID)) },
		"ServiceAccountByPublicID": func(tx store.Tx) error { return second(tx.ServiceAccountByPublicID(service.PublicID)) },
		"ServiceAccounts":          func(tx store.Tx) error { return third(tx.ServiceAccounts(a.account, page)) },
		"CreateServiceAccount":     func(tx store.Tx) error { return tx.CreateServiceAccount(new(h.newServiceAccount(a.account, "new"))) },
		"UpdateServiceAccount": func(tx store.Tx) error {
			return second(tx.UpdateServiceAccount(a.account, service.ID, func(v *store.ServiceAccount) error { v.Name = "n"; return nil }))
		},
		"TouchServiceAccount": func(tx store.Tx) error { return tx.TouchServiceAccount(service.ID, at(1)) },
		"Authorization":       func(tx store.Tx) error { return second(tx.Authorization(a.account, grant.ID)) },
		"Authorizations":      func(tx store.Tx) error { return second(tx.Authorizations(a.account, store.AuthorizationFilter{})) },
		"GrantsOf": func(tx store.Tx) error {
			return second(tx.GrantsOf(a.account, []store.Subject{{Type: "user", ID: "u"}}))
		},
		"AuthorizationVersion": func(tx store.Tx) error { return second(tx.AuthorizationVersion()) },
		"CreateAuthorization": func(tx store.Tx) error {
			return tx.CreateAuthorization(&store.Authorization{ID: h.id(), AccountID: a.account, CreatedAt: epoch})
		},
		"UpdateAuthorization": func(tx store.Tx) error {
			return second(tx.UpdateAuthorization(a.account, grant.ID, func(v *store.Authorization) error { v.RevokedAt = at(1); return nil }))
		},
		"MasterPassword":  func(tx store.Tx) error { return second(tx.MasterPassword(a.account, password.ID)) },
		"MasterPasswords": func(tx store.Tx) error { return third(tx.MasterPasswords(a.account, store.ScopedFilter{}, page)) },
		"CreateMasterPassword": func(tx store.Tx) error {
			return tx.CreateMasterPassword(new(h.newMasterPassword(a.account, "new", accountScope(a))))
		},
		"UpdateMasterPassword": func(tx store.Tx) error {
			return second(tx.UpdateMasterPassword(a.account, password.ID, func(v *store.MasterPassword) error { v.Name = "n"; return nil }))
		},
		"DeleteMasterPassword": func(tx store.Tx) error { return tx.DeleteMasterPassword(a.account, password.ID) },
		"Forwarding":           func(tx store.Tx) error { return second(tx.Forwarding(a.account, rule.ID)) },
		"ForwardingByLink":     func(tx store.Tx) error { return second(tx.ForwardingByLink(rule.LinkHash)) },
		"ForwardingRules":      func(tx store.Tx) error { return third(tx.ForwardingRules(a.account, store.ForwardingFilter{}, page)) },
		"CreateForwarding": func(tx store.Tx) error {
			return tx.CreateForwarding(new(h.newForwarding(a.account, "z@z.example", accountScope(a))))
		},
		"UpdateForwarding": func(tx store.Tx) error {
			return second(tx.UpdateForwarding(a.account, rule.ID, func(v *store.Forwarding) error { v.Enabled = !v.Enabled; return nil }))
		},
		"DeleteForwarding": func(tx store.Tx) error { return tx.DeleteForwarding(a.account, rule.ID) },
		"Mailbox":          func(tx store.Tx) error { return second(tx.Mailbox(a.account, mailbox.ID)) },
		"MailboxByAddress": func(tx store.Tx) error { return second(tx.MailboxByAddress(a.account, "ada", "a.example")) },
		"Mailboxes":        func(tx store.Tx) error { return third(unpaid(tx).Mailboxes(a.account, store.MailboxFilter{}, page)) },
		"EachMailbox": func(tx store.Tx) error {
			return tx.EachMailbox(a.account, store.MailboxFilter{}, func(store.Mailbox) error { return nil })
		},
		"CreateMailbox": func(tx store.Tx) error {
			m := h.newMailbox(a, "new")
			m.Aliases = []store.MailboxAlias{{Alias: "other@b.example"}}
			return tx.CreateMailbox(&m)
		},
		"CreateMailboxes": func(tx store.Tx) error {
			return second(tx.CreateMailboxes([]*store.Mailbox{new(h.newMailbox(a, "new"))}, 1))
		},
		"UpdateMailbox": func(tx store.Tx) error {
			return second(tx.UpdateMailbox(a.account, mailbox.ID, func(v *store.Mailbox) error { v.FirstName = "n"; return nil }))
		},
		"DeleteMailbox":     func(tx store.Tx) error { return tx.DeleteMailbox(a.account, alias.ID, at(1)) },
		"Domain":            func(tx store.Tx) error { return second(tx.Domain(a.account, a.domain)) },
		"DomainByName":      func(tx store.Tx) error { return second(tx.DomainByName(a.account, "a.example")) },
		"DomainTaken":       func(tx store.Tx) error { return second(tx.DomainTaken("a.example")) },
		"Domains":           func(tx store.Tx) error { return third(tx.Domains(a.account, store.DomainFilter{}, page)) },
		"DomainsOfPurchase": func(tx store.Tx) error { return second(tx.DomainsOfPurchase("batch")) },
		"UnpaidDomains":     func(tx store.Tx) error { return second(tx.UnpaidDomains(a.account, "", at(1))) },
		"CreateDomain": func(tx store.Tx) error {
			d := h.newDomain(a.account, a.workspace, "new.example")
			d.Tags = []store.Tag{{ID: "t", Name: "n"}}
			return tx.CreateDomain(&d)
		},
		"UpdateDomain": func(tx store.Tx) error {
			return second(tx.UpdateDomain(a.account, a.domain, func(v *store.Domain) error { v.Tags = []store.Tag{{ID: "t", Name: "n"}}; return nil }))
		},
		"DeleteDomain": func(tx store.Tx) error {
			return then(tx.DeleteMailbox(a.account, mailbox.ID, at(1)), func() error { return tx.DeleteDomain(a.account, a.domain, at(1)) })
		},
		"DNSRecord":       func(tx store.Tx) error { return second(tx.DNSRecord(a.account, record.ID)) },
		"DNSRecords":      func(tx store.Tx) error { return third(tx.DNSRecords(a.account, store.DNSRecordFilter{}, page)) },
		"CreateDNSRecord": func(tx store.Tx) error { return tx.CreateDNSRecord(new(h.newDNSRecord(a, "new", "TXT", "v"))) },
		"UpdateDNSRecord": func(tx store.Tx) error {
			return second(tx.UpdateDNSRecord(a.account, record.ID, func(v *store.DNSRecord) error { v.Value = "n"; return nil }))
		},
		"DeleteDNSRecord":      func(tx store.Tx) error { return tx.DeleteDNSRecord(a.account, record.ID) },
		"DedicatedIP":          func(tx store.Tx) error { return second(tx.DedicatedIP(a.account, ip.ID)) },
		"DedicatedIPs":         func(tx store.Tx) error { return third(tx.DedicatedIPs(a.account, store.DedicatedIPFilter{}, page)) },
		"DedicatedIPOption":    func(tx store.Tx) error { return second(tx.DedicatedIPOption(a.account, option.ID)) },
		"DedicatedIPOptions":   func(tx store.Tx) error { return third(tx.DedicatedIPOptions(a.account, page)) },
		"DomainsOfDedicatedIP": func(tx store.Tx) error { return second(tx.DomainsOfDedicatedIP(a.account, ip.ID)) },
		"CreateDedicatedIP": func(tx store.Tx) error {
			return tx.CreateDedicatedIP(new(h.newDedicatedIP(a.account, free, "192.0.2.7")))
		},
		"DeleteDedicatedIP": func(tx store.Tx) error {
			return then(second(tx.UpdateDomain(a.account, user, func(v *store.Domain) error { v.DedicatedIPID = ""; return nil })), func() error { return tx.DeleteDedicatedIP(a.account, ip.ID) })
		},
		"CreateDedicatedIPOption": func(tx store.Tx) error {
			return tx.CreateDedicatedIPOption(&store.DedicatedIPOption{ID: h.id(), AccountID: a.account, CreatedAt: epoch})
		},
		"IdempotencyRecord": func(tx store.Tx) error { return second(tx.IdempotencyRecord([]byte("a.example"), epoch)) },
		"PutIdempotencyRecord": func(tx store.Tx) error {
			return tx.PutIdempotencyRecord(store.IdempotencyRecord{KeyHash: []byte("k"), Fingerprint: []byte{1}, Response: []byte{2}})
		},
		"DeleteExpiredIdempotencyRecords": func(tx store.Tx) error { return tx.DeleteExpiredIdempotencyRecords(at(90)) },
		"CreateFeedback": func(tx store.Tx) error {
			return tx.CreateFeedback(&store.Feedback{ID: h.id(), AccountID: a.account, CreatedAt: epoch})
		},
		"EachAuditEntry": func(tx store.Tx) error {
			return tx.EachAuditEntry(store.AuditFilter{Limit: 1}, func(store.AuditEntry) error { return nil })
		},
		"AddAuditEntry": func(tx store.Tx) error {
			return tx.AddAuditEntry(&store.AuditEntry{AccountID: a.account, CreatedAt: epoch})
		},
		"NextMessageDue":    func(tx store.Tx) error { return second(tx.NextMessageDue()) },
		"QueueMessage":      func(tx store.Tx) error { return tx.QueueMessage(message) },
		"ClaimMessages":     func(tx store.Tx) error { return second(tx.ClaimMessages(at(2), at(3), 1)) },
		"RetryMessage":      func(tx store.Tx) error { return tx.RetryMessage(message, at(2)) },
		"RemoveMessage":     func(tx store.Tx) error { return tx.RemoveMessage(message) },
		"SetForwardingLink": func(tx store.Tx) error { return tx.SetForwardingLink(a.account, rule.ID, []byte{1}) },
		"TokenBucket":       func(tx store.Tx) error { return second(tx.TokenBucket("b")) },
		"UpdateTokenBucket": func(tx store.Tx) error {
			return tx.UpdateTokenBucket("b", epoch, func(time.Time) (time.Time, error) { return at(1), nil })
		},
		"Clear": store.Tx.Clear,
	}
	for m := range reflect.TypeFor[store.Tx]().Methods() {
		if calls[m.Name] == nil && !slices.Contains([]string{"HideUnpaid", "Observe"}, m.Name) {
			t.Errorf("no call of %s", m.Name)
		}
	}
	for name, call := range calls {
		for n := 1; ; n++ {
			failed, err := failing(n, call)
			if failed && err == nil {
				t.Errorf("%s lost the error of statement %d", name, n)
			}
			if failed {
				continue
			}
			if err != nil || n == 1 {
				t.Errorf("%s: %v after %d statements", name, err, n-1)
			}
			break
		}
	}
}

func second[T any](_ T, err error) error { return err }

func third[T any](_ []T, _ int, err error) error { return err }

// then runs a second step unless the first has failed.
func then(err error, next func() error) error {
	if err != nil {
		return err
	}
	return next()
}
