package storetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/text"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// History creates, changes and deletes mailboxes of an empty store at random, creating
// size of them at least, and compares lists with every filter with a plain model.
func History(t *testing.T, s store.Store, size int) {
	h := newHistory(&harness{T: t, store: s}, uint64(size))
	for created, step := 0, 0; created < size; step++ {
		switch n := 1 + h.rand.IntN(size/10+1); h.rand.IntN(8) {
		case 0, 1, 2, 3:
			h.createMailboxes(n)
			created += n
		case 4:
			h.changeMailboxes(h.rand.IntN(n))
		case 5, 6:
			h.deleteMailboxes(h.rand.IntN(n))
		case 7:
			h.moveDomain()
		}
		for range 10 {
			h.compare()
		}
	}
	h.deleteMailboxes(len(h.mailboxes) * 9 / 10)
	for range 100 {
		h.compare()
	}
	h.deleteMailboxes(len(h.mailboxes))
	h.compare()
	h.createMailboxes(5)
	h.compare()
}

func testHistory(h *harness) { History(h.T, h.store, 100) }

// history is a store with the model of what it holds.
type history struct {
	*harness
	rand       *rand.Rand
	account    string
	workspaces []string
	domains    []store.Domain
	mailboxes  []store.Mailbox // in order
}

func newHistory(h *harness, seed uint64) *history {
	t := h.tenant("a.example")
	out := &history{harness: h, rand: rand.New(rand.NewPCG(seed, 1)), account: t.account}
	out.workspaces = []string{t.workspace, h.workspace(t.account, "Other"), h.workspace(t.account, "Empty")}
	for i, name := range []string{"b.example", "xn--mller-kva.example", "unpaid.example"} {
		d := h.newDomain(t.account, out.workspaces[i%2], name)
		if name == "unpaid.example" {
			d.State.Status = vocab.DomainPendingPayment
		}
		h.create(&d)
		out.domains = append(out.domains, d)
	}
	h.mailbox(h.tenant("foreign.example"), "foreign") // of another account
	return out
}

// pick returns a random element.
func pick[T any](h *history, values ...T) T { return values[h.rand.IntN(len(values))] }

func (h *history) name() string {
	return pick(h, "Ada", "ada", "JÜRGEN", "Ольга", "100%", `a"b_c*`, `C:\x`, "O'Hara", "x", "日本", "ẞ") + strings.Repeat(pick(h, "é", "e", "-1"), h.rand.IntN(3))
}

func (h *history) state() store.Provisioning {
	return pick(h, store.Provisioning{Status: "active"}, store.Provisioning{Status: "active"}, store.Provisioning{Status: "paused"},
		store.Provisioning{Status: "active", Until: "provisioning", ReadyAt: at(h.rand.IntN(5))})
}

func (h *history) createMailboxes(n int) {
	created := make([]store.Mailbox, n)
	for i := range created {
		d := pick(h, h.domains...)
		created[i] = store.Mailbox{
			ID: h.id(), AccountID: h.account, DomainID: d.ID, LocalPart: fmt.Sprintf("%s%d", pick(h, "m", "user", "q"), h.ids),
			FirstName: h.name(), LastName: h.name(), State: h.state(), CreatedAt: at(h.rand.IntN(3)), // the clock may go back
		}
	}
	h.update(func(tx store.Tx) error {
		for i := range created {
			if err := tx.CreateMailbox(&created[i]); err != nil {
				return err
			}
		}
		return nil
	})
	h.mailboxes = append(h.mailboxes, created...)
}

func (h *history) changeMailboxes(n int) {
	for range min(n, len(h.mailboxes)) {
		m := &h.mailboxes[h.rand.IntN(len(h.mailboxes))]
		m.FirstName, m.State = h.name(), h.state()
		h.update(func(tx store.Tx) error {
			_, err := tx.UpdateMailbox(h.account, m.ID, func(stored *store.Mailbox) error {
				stored.FirstName, stored.State = m.FirstName, m.State
				return nil
			})
			return err
		})
	}
}

// deleteMailboxes deletes n mailboxes that follow each other, or are anywhere.
func (h *history) deleteMailboxes(n int) {
	n = min(n, len(h.mailboxes))
	start, together := h.rand.IntN(len(h.mailboxes)-n+1), h.rand.IntN(2) == 0
	h.update(func(tx store.Tx) error {
		left := slices.Clone(h.mailboxes)
		for range n {
			i := start
			if !together {
				i = h.rand.IntN(len(left))
			}
			if err := tx.DeleteMailbox(h.account, left[i].ID, at(0)); err != nil {
				return err
			}
			left = slices.Delete(left, i, i+1)
		}
		h.mailboxes = left
		return nil
	})
}

func (h *history) moveDomain() {
	i := h.rand.IntN(len(h.domains))
	d := &h.domains[i]
	d.WorkspaceID = pick(h, h.workspaces...)
	h.update(func(tx store.Tx) error {
		_, err := tx.UpdateDomain(h.account, d.ID, func(stored *store.Domain) error {
			stored.WorkspaceID = d.WorkspaceID
			return nil
		})
		return err
	})
}

// compare reads a random part of a list with a random filter, and each mailbox that the
// filter selects.
func (h *history) compare() {
	h.Helper()
	f := h.filter()
	hidden := pick(h, time.Time{}, at(-1), at(100))
	var want []string
	for _, m := range h.mailboxes {
		if h.selects(f, hidden, m) {
			want = append(want, m.ID)
		}
	}
	slices := []store.Slice{{Limit: 1}, {Offset: max(len(want)-3, 0), Limit: 3}, {Offset: h.rand.IntN(len(want) + 2), Limit: h.rand.IntN(len(want) + 2)}}
	h.view(func(r store.Reader) error {
		if !hidden.IsZero() {
			r.HideUnpaid(hidden)
		}
		for _, s := range slices {
			items, total, err := r.Mailboxes(h.account, f, s)
			if err != nil {
				return err
			}
			part := want[min(s.Offset, len(want)):min(s.Offset+s.Limit, len(want))]
			if got := idsOf(items); total != len(want) || fmt.Sprint(got) != fmt.Sprint(part) {
				h.Fatalf("%+v of %+v, hidden until %v: got %d of %d:\n%q\nwant %d of %d:\n%q", s, f, hidden, len(got), total, got, len(part), len(want), part)
			}
		}
		each := []string{}
		err := r.EachMailbox(h.account, f, func(m store.Mailbox) error {
			each = append(each, m.ID)
			return nil
		})
		if fmt.Sprint(each) != fmt.Sprint(want) {
			h.Fatalf("each of %+v, hidden until %v: got %d, want %d", f, hidden, len(each), len(want))
		}
		return err
	})
}

// filter returns a filter that has each of its fields in a third of all cases.
func (h *history) filter() (f store.MailboxFilter) {
	some := func() bool { return h.rand.IntN(3) == 0 }
	if some() {
		f.DomainID = pick(h, h.domains...).ID
	}
	if some() {
		f.WorkspaceID = pick(h, h.workspaces...)
	}
	if some() {
		f.Status, f.Now = pick(h, "active", "paused", "provisioning"), at(h.rand.IntN(6)-1)
	}
	if some() && len(h.mailboxes) > 0 {
		parts := []rune(searched(pick(h, h.mailboxes...)))
		start := h.rand.IntN(len(parts))
		f.Search = string(parts[start : start+min(1+h.rand.IntN(8), len(parts)-start)])
		f.Search = pick(h, f.Search, strings.ToUpper(f.Search))
	} else if some() {
		f.Search = pick(h, "%", "_", `"`, "*", `\`, "nobody", "MÜLLER.example", "müller", " ", "@", "ex", "@unpaid.example",
			"' OR 1 = 1 -- ", "\x00", strings.Repeat("0", 100_000))
	}
	if some() {
		f.Within = store.Within{Restricted: true, Domains: []string{pick(h, h.domains...).ID}}
		if some() {
			f.Within.Workspaces = []string{pick(h, h.workspaces...)}
		} else if h.rand.IntN(4) == 0 {
			f.Within = nothing
		}
	}
	if h.rand.IntN(10) == 0 && len(h.mailboxes) > 0 {
		f.After = pick(h, h.mailboxes...).Position()
	}
	if h.rand.IntN(10) == 0 && len(h.mailboxes) > 0 {
		id := pick(h, h.mailboxes...).ID
		f.IDs = pick(h, []string{}, []string{id, pick(h, h.mailboxes...).ID, id, "unknown"})
	}
	return f
}

// searched returns the text of a mailbox that Search is a part of.
func searched(m store.Mailbox) string {
	address := m.Address()
	if shown := m.LocalPart + "@" + domainname.Unicode(m.DomainName); shown != address {
		address += "\n" + shown
	}
	return text.Fold(address) + "\n" + text.Fold(m.FirstName+" "+m.LastName)
}

// selects is the plain definition of a filter.
func (h *history) selects(f store.MailboxFilter, hidden time.Time, m store.Mailbox) bool {
	d := h.domains[slices.IndexFunc(h.domains, func(d store.Domain) bool { return d.ID == m.DomainID })]
	within := f.Within.Restricted && !slices.Contains(f.Within.Domains, d.ID) && !slices.Contains(f.Within.Workspaces, d.WorkspaceID)
	switch {
	case f.DomainID != "" && f.DomainID != d.ID,
		f.WorkspaceID != "" && f.WorkspaceID != d.WorkspaceID,
		f.Status != "" && f.Status != m.State.At(f.Now),
		!strings.Contains(searched(m), text.Fold(f.Search)),
		within,
		f.IDs != nil && !slices.Contains(f.IDs, m.ID),
		f.After.ID != "" && !m.CreatedAt.After(f.After.CreatedAt),
		d.State.Status == vocab.DomainPendingPayment && !hidden.IsZero() && !d.CreatedAt.After(hidden):
		return false
	}
	return true
}
