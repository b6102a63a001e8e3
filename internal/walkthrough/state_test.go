package walkthrough_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

const (
	stateUser     = "ci"
	statePassword = "state-password"
)

// stateServer is a server for Terraform's http backend, with locking.
type stateServer struct {
	*httptest.Server

	mu          sync.Mutex
	state, lock []byte
}

func newStateServer(t *testing.T) *stateServer {
	s := new(stateServer)
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *stateServer) locked() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lock != nil
}

// ServeHTTP implements http.Handler.
func (s *stateServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if user, password, _ := r.BasicAuth(); user != stateUser || password != statePassword {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	switch r.Method {
	case http.MethodGet:
		if s.state == nil {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = w.Write(s.state)
	case http.MethodPost:
		s.state = body
	case "LOCK":
		if s.lock != nil {
			w.WriteHeader(http.StatusLocked)
			_, _ = w.Write(s.lock)
			return
		}
		s.lock = body
	case "UNLOCK":
		s.lock = nil
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}
