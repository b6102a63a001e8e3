package client

import (
	"errors"
	"testing"
)

// At a wrong base URL everything answers 404: nothing may be believed of it, and
// nothing is dropped from anybody's state.
func TestWrongBaseURL(t *testing.T) {
	for name, status := range map[string]int{"404": 404, "405": 405, "501": 501} {
		t.Run(name, func(t *testing.T) {
			f := newFakeAPI()
			f.lackStatus = status
			for _, spec := range fakeRoutes() {
				f.without[spec.spec.ID] = true
			}
			c := f.client(t)
			for what, err := range map[string]error{
				"read a record":   second(c.GetDNSRecord(t.Context(), 1)),
				"read an account": second(c.GetServiceAccount(t.Context(), "00000000-0000-4000-8000-000000000001")),
				"the account":     second(c.GetAccount(t.Context())),
				"delete":          c.DeleteDNSRecord(t.Context(), 1),
				"revoke":          c.RevokeServiceAccount(t.Context(), "00000000-0000-4000-8000-000000000001"),
			} {
				if err == nil || IsUnsupported(err) || IsNotFound(err) || !errors.Is(err, ErrNoAPI) {
					t.Errorf("%s: got %v", what, err)
				}
			}
		})
	}
}

func second[T any](_ T, err error) error { return err }
