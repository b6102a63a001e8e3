package control

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/email"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/emailaddr"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/fixture"
)

func (h server) dumpFixture(r *http.Request) (any, error) {
	return h.service.DumpFixture(r.Context())
}

func (h server) loadFixture(r *http.Request) (any, error) {
	f, err := fixture.Read(r.Body)
	if err != nil {
		return nil, invalid(err)
	}
	ids := make([]string, len(f.Accounts))
	for i, a := range f.Accounts {
		if err := h.checkReachable(a.ID); err != nil {
			return nil, err
		}
		ids[i] = a.ID
	}
	outcomes, err := h.service.ApplyFixture(r.Context(), f)
	if err != nil {
		return nil, invalid(err)
	}
	return map[string]any{"accounts": ids, "objects": outcomes}, nil
}

func (h server) initAccount(r *http.Request) (any, error) {
	var in AccountOptions
	if err := decode(r, &in); err != nil {
		return nil, err
	}
	account, err := h.CreateAccount(r.Context(), h.service, in)
	if err != nil {
		return nil, err
	}
	if account.Isolated {
		account.ControlURL = "http://" + r.Host + "/accounts/" + account.AccountID
	}
	return created{account, ""}, nil
}

func (h server) listAccounts(r *http.Request) (any, error) {
	ids, err := h.service.Accounts(r.Context())
	if err != nil {
		return nil, err
	}
	items := []listedAccount{}
	for _, id := range ids {
		items = append(items, listedAccount{id, false})
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(h.isolated)) {
		items = append(items, listedAccount{id, true})
	}
	return listOf[listedAccount]{items}, nil
}

func (h server) deleteAccount(r *http.Request) (any, error) {
	id := api.CanonicalID(r.PathValue("account_id"))
	ids, err := h.service.Accounts(r.Context())
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	i, isIsolated := h.isolated[id]
	delete(h.isolated, id)
	h.kept = slices.DeleteFunc(h.kept, func(a Account) bool { return a.AccountID == id })
	h.mu.Unlock()
	switch {
	case isIsolated:
		i.service.Drain()
		_, err = i.plane.inFlight.pause(r.Context(), i.plane.Faults.Clear)
		return nil, errors.Join(err, i.service.Close())
	case !slices.Contains(ids, id):
		return nil, &httpError{http.StatusNotFound, errors.New("there is no account " + id)}
	}
	return nil, h.service.EraseAccount(r.Context(), id)
}

func (h server) settlePayment(r *http.Request) (any, error) {
	settled, err := h.service.SettlePayment(r.Context(), r.PathValue("purchase_batch_id"))
	return map[string]any{"domains": settled}, err
}

func (h server) reset(r *http.Request) (any, error) {
	if err := h.Plane.Reset(r.Context(), h.service); err != nil {
		return nil, err
	}
	ids, err := h.service.Accounts(r.Context())
	return map[string]any{"accounts": append([]string{}, ids...)}, err
}

func (h server) outbox(r *http.Request) (any, error) {
	q := r.URL.Query()
	to, rule := q.Get("to"), q.Get("forwarding_id")
	if to != "" {
		address, err := emailaddr.Normalize(to)
		if err != nil {
			return nil, invalid(fmt.Errorf("to: %q is no address of a recipient: %w", to, err))
		}
		to = address
	}
	if rule != "" && !api.IsID(rule) {
		return nil, invalid(fmt.Errorf("forwarding_id: %q is no id of a forwarding rule, which is a UUID", rule))
	}
	matches := func(m email.Message) bool {
		return (to == "" || to == m.To) && (rule == "" || api.CanonicalID(rule) == m.ForwardingID)
	}
	items, err := await(h, r, func() []email.Message {
		return slices.DeleteFunc(append([]email.Message{}, h.service.Outbox()...), func(m email.Message) bool { return !matches(m) })
	}, func() string {
		var recipients []string
		for _, m := range h.service.Outbox() {
			if !matches(m) {
				recipients = append(recipients, m.To+" (forwarding_id "+m.ForwardingID+")")
			}
		}
		if recipients == nil {
			return "the outbox contains no other message"
		}
		return "the other messages are to " + strings.Join(recipients[max(0, len(recipients)-nearestMessages):], ", ")
	})
	if err == nil && prefersHTML(r) {
		return outboxPage(items, to != "" || rule != "")
	}
	return listOf[email.Message]{items}, err
}

// nearestMessages limits the messages in the error of an assertion about the outbox.
const nearestMessages = 5

func (h server) showClock(*http.Request) (any, error) {
	return map[string]any{"now": h.Clock.Now().UTC()}, nil
}

type clockChange struct {
	Advance *apiserver.Duration `json:"advance,omitempty"`
	Set     *time.Time          `json:"set,omitempty"`
}

func (h server) moveClock(r *http.Request) (any, error) {
	var in clockChange
	if err := decode(r, &in); err != nil {
		return nil, err
	}
	var err error
	switch {
	case (in.Advance == nil) == (in.Set == nil):
		return nil, invalid(errors.New(`set either {"advance": "72h"} or {"set": "2030-01-01T00:00:00Z"}`))
	case in.Advance != nil:
		err = h.Clock.Advance(time.Duration(*in.Advance))
	default:
		err = h.Clock.Set(*in.Set)
	}
	if err != nil {
		return nil, invalid(err)
	}
	return h.showClock(r)
}
