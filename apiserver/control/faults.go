package control

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
)

// How long GET /faults/{id}?held waits.
const (
	defaultWait = 10 * time.Second
	maxWait     = time.Minute
)

func (h server) listFaults(w http.ResponseWriter, _ *http.Request) error {
	return write(w, http.StatusOK, map[string]any{"items": h.Faults.Rules()})
}

func (h server) addFault(w http.ResponseWriter, r *http.Request) error {
	body, err := read(w, r)
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
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (h server) showFault(w http.ResponseWriter, r *http.Request) error {
	held, timeout := 0, defaultWait
	var err error
	if s := r.FormValue("held"); s != "" {
		if held, err = strconv.Atoi(s); err != nil || held < 0 {
			return invalid(errors.New("held: must be a whole number"))
		}
	}
	if s := r.FormValue("timeout"); s != "" {
		if timeout, err = time.ParseDuration(s); err != nil || timeout < 0 || timeout > maxWait {
			return invalid(fmt.Errorf("timeout: must be a duration of up to %s, such as 10s", maxWait))
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	go func() { // a service that drains waits for nothing
		select {
		case <-h.service.Draining():
			cancel()
		case <-ctx.Done():
		}
	}()
	state, err := h.Faults.AwaitHeld(ctx, r.PathValue("id"), held)
	switch {
	case errors.Is(err, fault.ErrNotFound):
		return err
	case err != nil:
		return &httpError{http.StatusConflict, fmt.Errorf("the fault %s holds %d requests after %s, and not %d", state.ID, state.Held, timeout, held)}
	}
	return write(w, http.StatusOK, state)
}

func (h server) removeFault(w http.ResponseWriter, r *http.Request) error {
	if err := h.Faults.Remove(r.PathValue("id")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (h server) releaseFault(w http.ResponseWriter, r *http.Request) error {
	released, err := h.Faults.Release(r.PathValue("id"))
	if err != nil {
		return err
	}
	return write(w, http.StatusOK, map[string]int{"released": released})
}
