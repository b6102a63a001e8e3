package control

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/journal"
)

func (h server) showJournal(w http.ResponseWriter, r *http.Request) error {
	filter := journal.Filter{Operation: r.FormValue("operation")}
	var err error
	if s := r.FormValue("status"); s != "" {
		if filter.Status, err = strconv.Atoi(s); err != nil {
			return invalid(errors.New("status: must be a whole number"))
		}
	}
	if s := r.FormValue("since"); s != "" {
		if filter.Since, err = strconv.ParseInt(s, 10, 64); err != nil {
			return invalid(errors.New("since: must be the seq of an entry"))
		}
	}
	last := h.Journal.Last() // before the entries: none is missed by who asks for what came since
	return write(w, http.StatusOK, map[string]any{"items": h.Journal.Entries(filter), "last_seq": last})
}

func (h server) clearJournal(w http.ResponseWriter, _ *http.Request) error {
	h.Journal.Clear()
	w.WriteHeader(http.StatusNoContent)
	return nil
}

type message struct {
	To      string    `json:"to"`
	Subject string    `json:"subject"`
	Text    string    `json:"text"`
	Link    string    `json:"link"`
	SentAt  time.Time `json:"sent_at"`
}

func (h server) outbox(w http.ResponseWriter, _ *http.Request) error {
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
		return invalid(errors.New(`give either {"advance": "72h"} or {"set": "2030-01-01T00:00:00Z"}`))
	case in.Advance != nil:
		err = h.Clock.tryAdvance(time.Duration(*in.Advance))
	default:
		err = h.Clock.trySet(*in.Set)
	}
	if err != nil {
		return invalid(err)
	}
	return h.showClock(w, r)
}
