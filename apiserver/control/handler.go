package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
)

// The largest bodies: a fixture may hold tens of thousands of mailboxes.
const (
	maxFixtureBytes = 64 << 20
	maxBytes        = 1 << 10
)

// NewHandler serves the control plane of a service whose clock is c:
//
//	GET  /healthz   answers once the service runs
//	GET  /outbox    the newest messages, oldest first
//	POST /fixture   loads a fixture without registrar rules
//	GET  /clock     the service's time
//	POST /clock     {"advance": "72h"} or {"set": "2030-01-01T00:00:00Z"}
//
// Answers are JSON; an error is {"error": "…"}.
func NewHandler(s *apiserver.Service, c *Clock) http.Handler {
	p := plane{service: s, clock: c}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		write(w, http.StatusOK, map[string]string{"status": "live"})
	})
	mux.HandleFunc("GET /outbox", p.outbox)
	mux.HandleFunc("POST /fixture", p.loadFixture)
	mux.HandleFunc("GET /clock", p.showClock)
	mux.HandleFunc("POST /clock", p.moveClock)
	// A web page in a browser on this machine must not steer the service.
	return http.NewCrossOriginProtection().Handler(mux)
}

type plane struct {
	service *apiserver.Service
	clock   *Clock
}

type message struct {
	To      string    `json:"to"`
	Subject string    `json:"subject"`
	Text    string    `json:"text"`
	Link    string    `json:"link"`
	SentAt  time.Time `json:"sent_at"`
}

func (p plane) outbox(w http.ResponseWriter, _ *http.Request) {
	items := []message{}
	for _, m := range p.service.Outbox() {
		items = append(items, message{To: m.To, Subject: m.Subject, Text: m.Text, Link: m.Link, SentAt: m.SentAt})
	}
	write(w, http.StatusOK, map[string]any{"items": items})
}

func (p plane) loadFixture(w http.ResponseWriter, r *http.Request) {
	f, err := apiserver.ReadFixture(http.MaxBytesReader(w, r.Body, maxFixtureBytes))
	if err != nil {
		refuse(w, err)
		return
	}
	if !reflect.ValueOf(f.Registrar).IsZero() {
		refuse(w, errors.New("registrar: its rules hold as long as the process; give them to it at its start"))
		return
	}
	if err := p.service.LoadFixture(r.Context(), f); err != nil {
		refuse(w, err)
		return
	}
	ids := make([]string, len(f.Accounts))
	for i, a := range f.Accounts {
		ids[i] = a.ID
	}
	write(w, http.StatusOK, map[string]any{"accounts": ids})
}

func (p plane) showClock(w http.ResponseWriter, _ *http.Request) {
	write(w, http.StatusOK, map[string]any{"now": p.clock.Now().UTC()})
}

func (p plane) moveClock(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Advance *apiserver.Duration `json:"advance"`
		Set     *time.Time          `json:"set"`
	}
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBytes))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		refuse(w, fmt.Errorf("the body is not as expected: %w", err))
		return
	}
	switch {
	case (in.Advance == nil) == (in.Set == nil):
		refuse(w, errors.New(`give either {"advance": "72h"} or {"set": "2030-01-01T00:00:00Z"}`))
		return
	case in.Advance != nil:
		p.clock.Advance(time.Duration(*in.Advance))
	default:
		p.clock.Set(*in.Set)
	}
	p.showClock(w, r)
}

func refuse(w http.ResponseWriter, err error) {
	status := http.StatusUnprocessableEntity
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		status = http.StatusRequestEntityTooLarge
	}
	write(w, status, map[string]string{"error": err.Error()})
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(body)
}
