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
	empty := h.withoutDomain("empty.example")
	var (
		mailbox = listed(h, mailboxes(a.account, store.MailboxFilter{}))[0]
		ip      = listed(h, dedicatedIPKind.list(a.account))[0]
		service = listed(h, serviceAccountKind.list(a.account))[0]
		grant   = read(h, func(r store.Reader) ([]store.Authorization, error) {
			return r.Authorizations(a.account, store.AuthorizationFilter{})
		})[0]
		user    = read(h, func(r store.Reader) ([]string, error) { return r.DomainsOfDedicatedIP(a.account, ip.ID) })[0]
		rule    = listed(h, forwardingKind.list(a.account))[0]
		message = store.QueuedMessage{AccountID: a.account, ForwardingID: rule.ID, DueAt: at(1)}
		unpaid  = func(tx store.Tx) store.Tx { tx.HideUnpaid(at(9)); return tx }
	)
	calls := map[string]func(store.Tx) error{
		"ServiceAccountByPublicID": func(tx store.Tx) error { return second(tx.ServiceAccountByPublicID(service.PublicID)) },
		"TouchServiceAccount":      func(tx store.Tx) error { return tx.TouchServiceAccount(service.ID, at(1)) },
		"Authorizations":           func(tx store.Tx) error { return second(tx.Authorizations(a.account, store.AuthorizationFilter{})) },
		"GrantsOf": func(tx store.Tx) error {
			return second(tx.GrantsOf(a.account, []store.Subject{{Type: "user", ID: "u"}}))
		},
		"SetPublicURL":         func(tx store.Tx) error { return second(tx.SetPublicURL("https://mail.example.com")) },
		"AuthorizationVersion": func(tx store.Tx) error { return second(tx.AuthorizationVersion()) },
		"ForwardingByLink":     func(tx store.Tx) error { return second(tx.ForwardingByLink(rule.LinkHash)) },
		"MailboxByAddress":     func(tx store.Tx) error { return second(tx.MailboxByAddress(a.account, "ada", "a.example")) },
		"Mailboxes":            func(tx store.Tx) error { return third(unpaid(tx).Mailboxes(a.account, store.MailboxFilter{}, page)) },
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
		"DeleteMailbox":     func(tx store.Tx) error { return tx.DeleteMailbox(a.account, alias.ID, at(1)) },
		"DomainByName":      func(tx store.Tx) error { return second(tx.DomainByName(a.account, "a.example")) },
		"DomainTaken":       func(tx store.Tx) error { return second(tx.DomainTaken("a.example")) },
		"DomainsOfPurchase": func(tx store.Tx) error { return second(tx.DomainsOfPurchase("batch")) },
		"UnpaidDomains":     func(tx store.Tx) error { return second(tx.UnpaidDomains(a.account, "", at(1))) },
		"CreateDomain": func(tx store.Tx) error {
			d := h.newDomain(a.account, a.workspace, "new.example")
			d.Tags = []store.Tag{{ID: "t", Name: "n"}}
			return tx.CreateDomain(&d)
		},
		"DeleteDomain": func(tx store.Tx) error {
			return then(tx.DeleteMailbox(a.account, mailbox.ID, at(1)), func() error { return tx.DeleteDomain(a.account, a.domain, at(1)) })
		},
		"DomainsOfDedicatedIP": func(tx store.Tx) error { return second(tx.DomainsOfDedicatedIP(a.account, ip.ID)) },
		"CreateDedicatedIP": func(tx store.Tx) error {
			return tx.CreateDedicatedIP(new(h.newDedicatedIP(a.account, free, "192.0.2.7")))
		},
		"DeleteDedicatedIP": func(tx store.Tx) error {
			return then(second(tx.UpdateDomain(a.account, user, func(v *store.Domain) error { v.DedicatedIPID = ""; return nil })), func() error { return tx.DeleteDedicatedIP(a.account, ip.ID) })
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
		"DeleteAuditEntries": func(tx store.Tx) error { return second(tx.DeleteAuditEntries("", at(90), 1)) },
		"QueuedMessages":     func(tx store.Tx) error { return second(tx.QueuedMessages()) },
		"NextMessageDue":     func(tx store.Tx) error { return second(tx.NextMessageDue()) },
		"QueueMessage":       func(tx store.Tx) error { return tx.QueueMessage(message) },
		"ClaimMessages":      func(tx store.Tx) error { return second(tx.ClaimMessages(at(2), at(3), 1)) },
		"RetryMessage":       func(tx store.Tx) error { return tx.RetryMessage(message, at(2)) },
		"RemoveMessage":      func(tx store.Tx) error { return tx.RemoveMessage(message) },
		"SetForwardingLink":  func(tx store.Tx) error { return tx.SetForwardingLink(a.account, rule.ID, []byte{1}) },
		"TokenBucket":        func(tx store.Tx) error { return second(tx.TokenBucket("b")) },
		"UpdateTokenBucket": func(tx store.Tx) error {
			return tx.UpdateTokenBucket("b", epoch, func(time.Time) (time.Time, error) { return at(1), nil })
		},
		"DeleteAccount": func(tx store.Tx) error { return tx.DeleteAccount(empty.account) },
		"Clear":         store.Tx.Clear,
	}
	addCalls(h, calls, a, "Account", "Accounts", accountKind, listed(h, accountKind.list(a.account))[0])
	addCalls(h, calls, a, "Workspace", "Workspaces", workspaceKind, listed(h, workspaceKind.list(a.account))[0])
	addCalls(h, calls, a, "ServiceAccount", "ServiceAccounts", serviceAccountKind, service)
	addCalls(h, calls, a, "Authorization", "", authorizationKind, grant)
	addCalls(h, calls, a, "MasterPassword", "MasterPasswords", masterPasswordKind, listed(h, masterPasswordKind.list(a.account))[0])
	addCalls(h, calls, a, "Forwarding", "ForwardingRules", forwardingKind, rule)
	addCalls(h, calls, a, "Mailbox", "Mailboxes", mailboxKind, mailbox)
	addCalls(h, calls, a, "Domain", "Domains", domainKind, read(h, of(store.Reader.Domain, a.account, a.domain)))
	addCalls(h, calls, a, "DNSRecord", "DNSRecords", dnsRecordKind, listed(h, dnsRecordKind.list(a.account))[0])
	addCalls(h, calls, a, "DedicatedIP", "DedicatedIPs", dedicatedIPKind, ip)
	addCalls(h, calls, a, "DedicatedIPOption", "DedicatedIPOptions", dedicatedIPOptionKind, listed(h, dedicatedIPOptionKind.list(a.account))[0])
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

// page has a row before it and a limit.
var page = store.Slice{Offset: 1, Limit: 1}

// addCalls adds the calls of a kind's methods on an object, but for those that are there already.
func addCalls[T any, K comparable](h *harness, calls map[string]func(store.Tx) error, t tenant, one, many string, k kind[T, K], v T) {
	add := func(name string, has bool, call func(store.Tx) error) {
		if has && calls[name] == nil {
			calls[name] = call
		}
	}
	add(one, true, func(tx store.Tx) error { return second(k.get(tx, t.account, k.id(v))) })
	add(many, k.list != nil, func(tx store.Tx) error { return third(k.list(t.account)(tx, page)) })
	add("Create"+one, true, func(tx store.Tx) error { return create(tx, new(k.new(h, t))) })
	add("Update"+one, k.update != nil, func(tx store.Tx) error {
		return second(k.update(tx, t.account, k.id(v), func(v *T) error { k.change(v, 5); return nil }))
	})
	add("Delete"+one, k.delete != nil, func(tx store.Tx) error { return k.delete(tx, t.account, k.id(v)) })
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
