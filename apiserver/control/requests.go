package control

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/internal/monitor"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/journal"
)

// The timeout of GET /faults/{id}?held.
const (
	defaultWait = 10 * time.Second
	maxWait     = time.Minute
)

func (h server) listFaults(w http.ResponseWriter, _ *http.Request) error {
	return write(w, http.StatusOK, map[string]any{"items": h.Faults.Rules()})
}

func (h server) addFault(w http.ResponseWriter, r *http.Request) error {
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	rule, err := fault.ParseRule(body)
	if err != nil {
		return invalid(err)
	}
	id, err := h.Faults.Add(rule)
	if err != nil {
		return err
	}
	state, err := h.Faults.Rule(id)
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/faults/"+id)
	return write(w, http.StatusCreated, state)
}

func (h server) clearFaults(w http.ResponseWriter, _ *http.Request) error {
	h.Faults.Clear()
	return noContent(w)
}

func (h server) showFault(w http.ResponseWriter, r *http.Request) error {
	held, timeout := 0, defaultWait
	var err error
	if s := r.URL.Query().Get("held"); s != "" {
		if held, err = strconv.Atoi(s); err != nil || held < 0 {
			return invalid(errors.New("held: must be a whole number"))
		}
	}
	if s := r.URL.Query().Get("timeout"); s != "" {
		if timeout, err = time.ParseDuration(s); err != nil || timeout < 0 || timeout > maxWait {
			return invalid(fmt.Errorf("timeout: must be a duration of up to %s, such as 10s", maxWait))
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	ctx, cancel = monitor.Until(ctx, h.service.Draining())
	defer cancel()
	state, err := h.Faults.AwaitHeld(ctx, r.PathValue("id"), held)
	switch {
	case errors.Is(err, fault.ErrNotFound):
		return err
	case err != nil:
		return &httpError{http.StatusConflict, fmt.Errorf("the fault %s holds %d requests after %s, want %d", state.ID, state.Held, timeout, held)}
	}
	return write(w, http.StatusOK, state)
}

func (h server) removeFault(w http.ResponseWriter, r *http.Request) error {
	if err := h.Faults.Remove(r.PathValue("id")); err != nil {
		return err
	}
	return noContent(w)
}

func (h server) releaseFault(w http.ResponseWriter, r *http.Request) error {
	released, err := h.Faults.Release(r.PathValue("id"))
	if err != nil {
		return err
	}
	return write(w, http.StatusOK, map[string]int{"released": released})
}

func (h server) showJournal(w http.ResponseWriter, r *http.Request) error {
	filter := journal.Filter{Operation: r.URL.Query().Get("operation")}
	var err error
	if s := r.URL.Query().Get("status"); s != "" {
		if filter.Status, err = strconv.Atoi(s); err != nil {
			return invalid(errors.New("status: must be a whole number"))
		}
	}
	if s := r.URL.Query().Get("since"); s != "" {
		if filter.Since, err = strconv.ParseInt(s, 10, 64); err != nil {
			return invalid(errors.New("since: must be the seq of an entry"))
		}
	}
	last := h.Journal.Last() // before the entries, so that ?since=last_seq misses none
	return write(w, http.StatusOK, map[string]any{"items": h.Journal.Entries(filter), "last_seq": last})
}

func (h server) clearJournal(w http.ResponseWriter, _ *http.Request) error {
	h.Journal.Clear()
	return noContent(w)
}
