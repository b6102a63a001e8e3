package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

const year = 365 * 24 * time.Hour

// clockErrors are the errors of the clocks of servers on one database.
var clockErrors = []time.Duration{0, 0, 0, store.ClockTolerance / 2, time.Minute, -time.Minute, time.Hour, -time.Hour, year, -year}

// testWrongClocks creates objects of all servers in turn while the time passes. A time is that of its server's
// clock, or follows the newest time before it, but never by more than store.ClockTolerance. A reader of page after
// page misses no object that existed when it began.
func testWrongClocks(h *harness) {
	t := h.tenant("a.example")
	random := rand.New(rand.NewPCG(1, 2))
	now := epoch
	var begun, seen []string // the mailboxes when a reader began, and those that it has read
	pages := 0
	for i := range 300 {
		now = now.Add(time.Duration(random.IntN(2_000_000)) * time.Microsecond)
		given := now.Add(clockErrors[random.IntN(len(clockErrors))])
		boxes := []store.Mailbox{h.newMailbox(t, fmt.Sprint("one", i)), h.newMailbox(t, fmt.Sprint("two", i)), h.newMailbox(t, fmt.Sprint("three", i))}
		record := h.newDNSRecord(t, "@", "TXT", fmt.Sprint(i))
		entry := store.AuditEntry{AccountID: t.account, Operation: fmt.Sprint(i), CreatedAt: given}
		boxes[0].CreatedAt, boxes[1].CreatedAt, boxes[2].CreatedAt, record.CreatedAt = given, given, given, given
		h.update(func(tx store.Tx) error {
			_, err := tx.CreateMailboxes([]*store.Mailbox{&boxes[1], &boxes[2]}, 2)
			return errors.Join(err, tx.Create(&boxes[0]), tx.Create(&record), tx.AddAuditEntry(&entry))
		})
		late := given.Add(store.ClockTolerance + time.Millisecond)
		for _, created := range []time.Time{boxes[0].CreatedAt, boxes[1].CreatedAt, boxes[2].CreatedAt, record.CreatedAt} {
			assert.Assert(h, !created.Before(given) && created.Before(late), "created at %s by a clock of %s", created, given)
		}
		assert.Assert(h, boxes[1].CreatedAt.Before(boxes[2].CreatedAt) && boxes[2].CreatedAt.Before(boxes[0].CreatedAt), "one update creates in another order: %v", boxes)
		logged := 0
		h.view(func(r store.Reader) error {
			return r.EachAuditEntry(store.AuditFilter{Since: given, Until: late}, func(e store.AuditEntry) error {
				if e.Operation == entry.Operation {
					logged++
				}
				return nil
			})
		})
		assert.Assert(h, logged == 1, "the change at %s is %d times in the log of that time", given, logged)

		updated, err := store.Mailbox{}, error(nil)
		h.update(func(tx store.Tx) error {
			updated, err = store.Update(tx, t.account, boxes[0].ID, func(m *store.Mailbox) error {
				m.FirstName, m.UpdatedAt = "Eve", now.Add(clockErrors[random.IntN(len(clockErrors))])
				return nil
			})
			return err
		})
		assert.Assert(h, !updated.UpdatedAt.Before(updated.CreatedAt), "updated at %s, before it was created: %s", updated.UpdatedAt, updated.CreatedAt)

		page := read(h, func(r store.Reader) ([]store.Mailbox, error) {
			items, _, err := r.Mailboxes(t.account, store.MailboxFilter{}, store.Slice{Offset: pages * 11, Limit: 11})
			return items, err
		})
		for _, m := range page {
			seen = append(seen, m.ID)
		}
		if pages++; len(page) < 11 {
			for _, id := range begun {
				assert.Assert(h, slices.Contains(seen, id), "a reader of page after page misses %s", id)
			}
			begun, seen, pages = h.mailboxes(t.account), nil, 0
		}
	}
	all := read(h, func(r store.Reader) ([]store.Mailbox, error) {
		items, _, err := r.Mailboxes(t.account, store.MailboxFilter{}, everything)
		return items, err
	})
	assert.Check(h, slices.IsSortedFunc(all, byCreation), "the mailboxes are not in the order of creation time and id")
	var each []store.Mailbox
	h.view(func(r store.Reader) error {
		each = nil
		return r.EachMailbox(t.account, store.MailboxFilter{}, func(m store.Mailbox) error { each = append(each, m); return nil })
	})
	equal(h, "each mailbox", each, all)

	s := h.newServiceAccount(t.account, "public")
	h.create(&s)
	for _, use := range []struct{ at, want time.Time }{
		{epoch.Add(year), epoch.Add(year)}, {at(5), at(5)}, {at(5).Add(-store.ClockTolerance), at(5)}, {at(6), at(6)},
	} {
		h.update(func(tx store.Tx) error { return tx.TouchServiceAccount(s.ID, use.at, use.at.Add(store.ClockTolerance)) })
		got := read(h, func(r store.Reader) (store.ServiceAccount, error) {
			return store.Get[store.ServiceAccount](r, t.account, s.ID)
		})
		equal(h, "last use", got.LastUsedAt, use.want)
	}
}

func byCreation(a, b store.Mailbox) int {
	if a.CreatedAt.Equal(b.CreatedAt) && a.ID < b.ID || a.CreatedAt.Before(b.CreatedAt) {
		return -1
	}
	return 1
}

// testRepairTimes checks that RepairTimes leaves no time of an event in the future, keeps the order of lists, other
// times and the distance between times, and that objects created later follow.
func testRepairTimes(h *harness) {
	t := h.full("a.example")
	for i, off := range []time.Duration{year, -time.Minute, year, time.Hour, time.Minute, store.ClockTolerance / 2, 2 * year} {
		m := h.newMailbox(t, fmt.Sprint("m", i))
		m.CreatedAt = epoch.Add(off)
		h.create(&m)
	}
	const lasts = 72 * time.Hour
	expiry := epoch.Add(3 * year)
	token := h.newServiceAccount(t.account, "public")
	token.CreatedAt, token.ExpiresAt = epoch.Add(year), expiry
	rule := h.newForwarding(t.account, "late@c.example", store.Scope{Type: vocab.ScopeWorkspace, ID: t.workspace})
	rule.CreatedAt, rule.SentAt, rule.ExpiresAt = epoch.Add(year), epoch.Add(year), epoch.Add(year+lasts)
	h.create(&token, &rule)
	readiness := h.createPending(t)
	h.update(func(tx store.Tx) error {
		_, err := store.Update(tx, t.account, token.ID, func(a *store.ServiceAccount) error { a.RevokedAt = epoch.Add(year); return nil })
		return errors.Join(err, tx.AddAuditEntry(&store.AuditEntry{AccountID: t.account, Operation: "late", CreatedAt: epoch.Add(year)}))
	})
	before, entries := h.mailboxes(t.account), h.logged(store.AuditFilter{})
	version := read(h, store.Reader.AuthorizationVersion)

	now := epoch.Add(35 * time.Second) // a minute after epoch is within the tolerance of it
	future := read(h, func(r store.Reader) ([]store.FutureTimes, error) { return r.FutureTimes(now) })
	var repaired []store.FutureTimes
	h.update(func(tx store.Tx) (err error) {
		repaired, err = tx.RepairTimes(now)
		return err
	})
	equal(h, "repaired", repaired, future)
	rows := map[string]int{}
	for _, f := range repaired {
		rows[f.Table] = f.Rows
	}
	equal(h, "rows", rows, map[string]int{"domains": 5, "mailboxes": 7, "service_accounts": 1, "forwarding_rules": 1, "audit_entries": 1})
	equal(h, "times in the future afterwards", read(h, func(r store.Reader) ([]store.FutureTimes, error) { return r.FutureTimes(now.Add(time.Millisecond)) }), nil)
	equal(h, "order of the mailboxes", h.mailboxes(t.account), before)
	equal(h, "order of the audit log", h.logged(store.AuditFilter{}), entries)
	assert.Check(h, read(h, store.Reader.AuthorizationVersion) != version, "the version of authorizations is the same")

	got := read(h, func(r store.Reader) (store.ServiceAccount, error) {
		return store.Get[store.ServiceAccount](r, t.account, token.ID)
	})
	equal(h, "chosen expiry", got.ExpiresAt, expiry)
	equal(h, "revocation", got.RevokedAt, now)
	link := read(h, func(r store.Reader) (store.Forwarding, error) {
		return store.Get[store.Forwarding](r, t.account, rule.ID)
	})
	equal(h, "sending and expiry of the link", []time.Time{link.SentAt, link.ExpiresAt}, []time.Time{now, now.Add(lasts)})
	assert.Check(h, !link.UpdatedAt.Before(link.CreatedAt), "updated at %s, before it was created: %s", link.UpdatedAt, link.CreatedAt)

	for name, want := range readiness {
		d := read(h, func(r store.Reader) (store.Domain, error) { return r.DomainByName(t.account, name) })
		ready := func(what string, got time.Time) {
			assert.Check(h, got.Sub(now.Add(want)).Abs() < time.Millisecond || got.Equal(epoch.Add(want)), "%s in %s is ready %s after now, want %s", what, name, got.Sub(now), want)
		}
		ready("the domain", d.State.ReadyAt)
		h.view(func(r store.Reader) error {
			return r.EachMailbox(t.account, store.MailboxFilter{DomainID: d.ID}, func(m store.Mailbox) error {
				ready("a mailbox", m.State.ReadyAt)
				return nil
			})
		})
	}

	m := h.newMailbox(t, "next")
	m.CreatedAt = now.Add(time.Second)
	h.create(&m)
	equal(h, "mailboxes with a new one", h.mailboxes(t.account), append(before, m.ID))
	h.update(func(tx store.Tx) (err error) {
		repaired, err = tx.RepairTimes(now)
		return err
	})
	equal(h, "repaired again", repaired, nil)
}

// createPending creates domains with a mailbox each whose server's clock was right, and returns by the domain's name
// how long after epoch, or now, both must be ready after a repair.
func (h *harness) createPending(t tenant) map[string]time.Duration {
	const delay = time.Hour
	ready := map[string]time.Duration{}
	for _, d := range []struct {
		name                    string
		created, ready, updated time.Duration // since epoch
		batch                   string
		repaired                time.Duration
	}{
		{"ahead.example", year, year + delay, year, "ahead", delay},
		{"ahead-and-updated.example", year, year + delay, 2 * year, "ahead", delay},
		{"paid-ahead.example", 0, year + delay, year, "paid", delay},
		{"updated-ahead.example", 0, delay, year, "right", delay},
		{"right.example", 0, delay, 0, "right", delay},
		{"chosen.example", year, 3 * year, year, "", 3 * year},
	} {
		domain := h.newDomain(t, d.name)
		domain.ID, domain.CreatedAt, domain.PurchaseBatchID = h.id(), epoch.Add(d.created), d.batch
		domain.State = store.Provisioning{Status: vocab.DomainActive, Until: vocab.DomainPending, ReadyAt: epoch.Add(d.ready)}
		mailbox := h.newMailbox(t, "right")
		mailbox.DomainID, mailbox.CreatedAt = domain.ID, epoch
		mailbox.State = store.Provisioning{Status: vocab.MailboxActive, Until: vocab.MailboxProvisioning, ReadyAt: epoch.Add(d.ready)}
		h.create(&domain, &mailbox)
		if d.updated != d.created {
			h.update(func(tx store.Tx) error {
				_, err := store.Update(tx, t.account, domain.ID, func(o *store.Domain) error { o.AutoRenew, o.UpdatedAt = true, epoch.Add(d.updated); return nil })
				return err
			})
		}
		ready[d.name] = d.repaired
	}
	return ready
}

// testRepairCancellations checks that RepairTimes leaves no cancellation to a later period, and keeps correct ones.
func testRepairCancellations(h *harness) {
	now := epoch
	end := store.PeriodEnd(now)
	for _, c := range []struct {
		name, status           string
		cancels, updated, want time.Time
	}{
		{"cancelled, and updated by a server ahead", vocab.AccountPendingCancellation, end, now.Add(20 * time.Hour), end},
		{"cancelled a year ahead", vocab.AccountPendingCancellation, store.PeriodEnd(now.Add(year)), now.Add(year), end},
		{"cancelled a year ahead, and updated", vocab.AccountPendingCancellation, store.PeriodEnd(now.Add(year)), now, end},
		{"cancelled at once, a year ahead", vocab.AccountCancelled, now.Add(year), now.Add(year), now},
		{"created by a fixture", vocab.AccountPendingCancellation, now.Add(year), time.Time{}, now.Add(year)},
	} {
		a := store.Account{ID: h.id(), Status: vocab.AccountActive, CreatedAt: epoch.Add(-time.Hour)}
		if c.updated.IsZero() {
			a.Status, a.CancelsAt = c.status, c.cancels
		}
		h.create(&a)
		h.update(func(tx store.Tx) (err error) {
			if !c.updated.IsZero() {
				_, err = store.Update(tx, a.ID, a.ID, func(a *store.Account) error {
					a.Status, a.CancelsAt, a.UpdatedAt = c.status, c.cancels, c.updated
					return nil
				})
			}
			_, repairErr := tx.RepairTimes(now)
			return errors.Join(err, repairErr)
		})
		equal(h, c.name, read(h, func(r store.Reader) (store.Account, error) { return r.Account(a.ID) }).CancelsAt, c.want)
	}
}

// testMostlyFuture checks that a clock is recognized as behind by most entries of the audit log.
func testMostlyFuture(h *harness) {
	t := h.full("a.example")
	behind := func(now time.Time) bool {
		return read(h, func(r store.Reader) (bool, error) { return r.MostlyFuture(now) })
	}
	log := func(off time.Duration) {
		h.update(func(tx store.Tx) error {
			return tx.AddAuditEntry(&store.AuditEntry{AccountID: t.account, Operation: "create", CreatedAt: epoch.Add(off)})
		})
	}
	assert.Check(h, behind(epoch.Add(-year)) && behind(epoch.Add(-time.Hour)) && !behind(epoch) && !behind(epoch.Add(year)))
	log(year)
	assert.Check(h, !behind(epoch) && behind(epoch.Add(-year)), "a half is not most")
	log(year)
	assert.Check(h, behind(epoch))
}
