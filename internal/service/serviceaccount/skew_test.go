package serviceaccount_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// TestRotationByTheServersClock runs the provider with a wrong clock: the API's Date
// header decides about rotation and expiry, also in plans without a refresh.
func TestRotationByTheServersClock(t *testing.T) {
	t.Parallel()
	acctest.Modes(t, func(t *testing.T, s *acctest.Server) {
		ahead := 0 * day // difference to the API's clock
		url := s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			w.Header().Set("Date", time.Now().Add(ahead).UTC().Format(http.TimeFormat))
			next.ServeHTTP(w, r)
		})
		config := lasting("720h", "168h")
		o, diags := s.Protocol(t, url).Apply(t.Context(), typeName, config, nil)
		s.Protocol(t, url).NoErrors(diags)
		for _, c := range []struct {
			ahead time.Duration
			due   bool
		}{{0, false}, {22 * day, false}, {24 * day, true}, {40 * day, true}, {-400 * day, false}} {
			ahead = c.ahead
			p := s.Protocol(t, url) // a new process
			plan, diags := p.Plan(typeName, config, o)
			p.NoErrors(diags)
			if due := len(plan.Replace) > 0; due != c.due {
				t.Errorf("the API's clock is %s ahead: due %t, want %t", c.ahead, due, c.due)
			}
		}
		ahead = 50 * day
		p := s.Protocol(t, url)
		o, diags = p.Apply(t.Context(), typeName, config, nil)
		p.NoErrors(diags)
		expires, err := time.Parse(api.TimestampLayout, o.Text("expires_at"))
		if err != nil {
			t.Fatal(err)
		}
		if off := time.Until(expires) - 80*day; off.Abs() > time.Minute {
			t.Errorf("it expires at %s, %s off", expires, off)
		}
	})
}
