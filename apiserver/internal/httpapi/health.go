package httpapi

import (
	"encoding/json"
	"net/http"
)

// HealthPath is where the health checks are.
const HealthPath = "/healthz/"

// health serves the health checks.
func (h *Handler) health(mux *http.ServeMux) {
	mux.HandleFunc("GET "+HealthPath+"live", func(w http.ResponseWriter, _ *http.Request) { writeHealth(w, http.StatusOK, "live") })
	mux.HandleFunc("GET "+HealthPath+"ready", func(w http.ResponseWriter, r *http.Request) {
		if err := h.Ready(r.Context()); err != nil {
			w.Header().Set("Retry-After", "1")
			writeHealth(w, http.StatusServiceUnavailable, err.Error())
			return
		}
		writeHealth(w, http.StatusOK, "ready")
	})
}

func writeHealth(w http.ResponseWriter, status int, state string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"status": state})
}
