package control

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/fixture"
)

// resetTimeout limits how long POST /reset waits for the requests in flight.
const resetTimeout = 10 * time.Second

func (h server) dumpFixture(w http.ResponseWriter, r *http.Request) error {
	f, err := h.service.DumpFixture(r.Context())
	if err != nil {
		return err
	}
	return write(w, http.StatusOK, f)
}

func (h server) loadFixture(w http.ResponseWriter, r *http.Request) error {
	f, err := fixture.Read(http.MaxBytesReader(w, r.Body, maxFixtureBytes))
	if err != nil {
		return invalid(err)
	}
	outcomes, err := h.service.ApplyFixture(r.Context(), f)
	if err != nil {
		return invalid(err)
	}
	ids := make([]string, len(f.Accounts))
	for i, a := range f.Accounts {
		ids[i] = a.ID
	}
	return write(w, http.StatusOK, map[string]any{"accounts": ids, "objects": outcomes})
}

func (h server) initAccount(w http.ResponseWriter, r *http.Request) error {
	var in AccountOptions
	if err := decode(w, r, &in); err != nil {
		return err
	}
	created, err := h.CreateAccount(r.Context(), h.service, in)
	if err != nil {
		return err
	}
	if created.Isolated {
		created.ControlURL = "http://" + r.Host + "/accounts/" + created.AccountID
	}
	return write(w, http.StatusCreated, created)
}

func (h server) listAccounts(w http.ResponseWriter, r *http.Request) error {
	type item struct {
		AccountID string `json:"account_id"`
		Isolated  bool   `json:"isolated"`
	}
	ids, err := h.service.Accounts(r.Context())
	if err != nil {
		return err
	}
	items := []item{}
	for _, id := range ids {
		items = append(items, item{id, false})
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(h.isolated)) {
		items = append(items, item{id, true})
	}
	return write(w, http.StatusOK, map[string]any{"items": items})
}

func (h server) deleteAccount(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), resetTimeout)
	defer cancel()
	id := r.PathValue("account_id")
	ids, err := h.service.Accounts(ctx)
	if err != nil {
		return err
	}
	if _, ok := h.find(id); !ok && !slices.Contains(ids, api.CanonicalID(id)) {
		return &httpError{http.StatusNotFound, errors.New("there is no account " + id)}
	}
	if err := h.Plane.DeleteAccount(ctx, h.service, id); err != nil {
		return err
	}
	return noContent(w)
}

func (h server) settlePayment(w http.ResponseWriter, r *http.Request) error {
	settled, err := h.service.SettlePayment(r.Context(), r.PathValue("purchase_batch_id"))
	if err != nil {
		return err
	}
	return write(w, http.StatusOK, map[string]any{"domains": settled})
}

func (h server) reset(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), resetTimeout)
	defer cancel()
	if err := h.Plane.Reset(ctx, h.service); err != nil {
		return err
	}
	ids, err := h.service.Accounts(r.Context())
	if err != nil {
		return err
	}
	return write(w, http.StatusOK, map[string]any{"accounts": append([]string{}, ids...)})
}

type message struct {
	ID           string    `json:"id"`
	ForwardingID string    `json:"forwarding_id"`
	To           string    `json:"to"`
	Subject      string    `json:"subject"`
	Text         string    `json:"text"`
	Link         string    `json:"link"`
	SentAt       time.Time `json:"sent_at"`
}

func (h server) outbox(w http.ResponseWriter, r *http.Request) error {
	to, rule := r.URL.Query().Get("to"), r.URL.Query().Get("forwarding_id")
	items, err := await(h, r, func() []message {
		found := []message{}
		for _, m := range h.service.Outbox() {
			if (to == "" || strings.EqualFold(to, m.To)) && (rule == "" || strings.EqualFold(rule, m.ForwardingID)) {
				found = append(found, message{m.ID, m.ForwardingID, m.To, m.Subject, m.Text, m.Link, m.SentAt})
			}
		}
		return found
	})
	if err != nil {
		return err
	}
	return write(w, http.StatusOK, map[string]any{"items": items})
}

func (h server) clearOutbox(w http.ResponseWriter, _ *http.Request) error {
	h.service.ClearOutbox()
	return noContent(w)
}

func (h server) showClock(w http.ResponseWriter, _ *http.Request) error {
	return write(w, http.StatusOK, map[string]any{"now": h.Clock.Now().UTC()})
}

type clockChange struct {
	Advance *apiserver.Duration `json:"advance,omitempty"`
	Set     *time.Time          `json:"set,omitempty"`
}

func (h server) moveClock(w http.ResponseWriter, r *http.Request) error {
	var in clockChange
	if err := decode(w, r, &in); err != nil {
		return err
	}
	var err error
	switch {
	case (in.Advance == nil) == (in.Set == nil):
		return invalid(errors.New(`set either {"advance": "72h"} or {"set": "2030-01-01T00:00:00Z"}`))
	case in.Advance != nil:
		err = h.Clock.Advance(time.Duration(*in.Advance))
	default:
		err = h.Clock.Set(*in.Set)
	}
	if err != nil {
		return invalid(err)
	}
	return h.showClock(w, r)
}
