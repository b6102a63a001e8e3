package control

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/google/uuid"

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
	if err := h.service.LoadFixture(r.Context(), f); err != nil {
		return invalid(err)
	}
	ids := make([]string, len(f.Accounts))
	for i, a := range f.Accounts {
		ids[i] = a.ID
	}
	return write(w, http.StatusOK, map[string]any{"accounts": ids})
}

func (h server) initAccount(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		AccountID string `json:"account_id"`
	}
	if err := decode(w, r, &in); err != nil {
		return err
	}
	if _, err := uuid.Parse(in.AccountID); in.AccountID != "" && err != nil {
		return invalid(errors.New("account_id: must be a UUID"))
	}
	id, token, err := h.service.InitAccount(r.Context(), in.AccountID, "owner")
	if err != nil {
		return err
	}
	return write(w, http.StatusCreated, struct { // as mailhostd init prints it
		AccountID   string `json:"account_id"`
		WorkspaceID string `json:"workspace_id"`
		Token       string `json:"token"`
	}{id, api.DefaultWorkspaceID(id), token})
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

func (h server) outbox(w http.ResponseWriter, _ *http.Request) error {
	type message struct {
		To      string    `json:"to"`
		Subject string    `json:"subject"`
		Text    string    `json:"text"`
		Link    string    `json:"link"`
		SentAt  time.Time `json:"sent_at"`
	}
	items := []message{}
	for _, m := range h.service.Outbox() {
		items = append(items, message{To: m.To, Subject: m.Subject, Text: m.Text, Link: m.Link, SentAt: m.SentAt})
	}
	return write(w, http.StatusOK, map[string]any{"items": items})
}

func (h server) showClock(w http.ResponseWriter, _ *http.Request) error {
	return write(w, http.StatusOK, map[string]any{"now": h.Clock.Now().UTC()})
}

func (h server) moveClock(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Advance *apiserver.Duration `json:"advance"`
		Set     *time.Time          `json:"set"`
	}
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
