package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/internal/client/fakeapi"
)

// lateRequest is a transport that delays the first POST for longer than the client waits.
type lateRequest struct {
	*fakeapi.API

	delayed *http.Request
	body    []byte
}

func (l *lateRequest) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodPost || l.delayed != nil {
		return l.API.RoundTrip(r)
	}
	l.body, _ = io.ReadAll(r.Body)
	l.delayed = r.Clone(context.WithoutCancel(r.Context()))
	l.Clock.Advance(90 * time.Second)
	return nil, errors.New("no response within 1m30s")
}

// arrive lets the API process the delayed request.
func (l *lateRequest) arrive(t *testing.T) {
	t.Helper()
	l.delayed.Body = io.NopCloser(bytes.NewReader(l.body))
	resp, err := l.API.RoundTrip(l.delayed)
	assert.NilError(t, err)
	_ = resp.Body.Close()
}

// TestLateRequest delays a request beyond its lookups, and checks that the API executes
// nothing twice that costs money or leaves a secret: with keys the request is resent, and
// without them the outcome is reported as unknown.
func TestLateRequest(t *testing.T) {
	claim, purchase, account := creators["dedicated ip"], creators["purchase"], secretCreators["service account"]
	for name, create := range map[string]struct {
		stored string
		do     func(context.Context, *Client) (string, error)
	}{
		"dedicated ip": {claim.stored, claim.do},
		"purchase":     {purchase.stored, purchase.do},
		"service account": {account.stored, func(ctx context.Context, c *Client) (string, error) {
			id, _, err := account.do(ctx, c)
			return id, err
		}},
	} {
		for _, honours := range []bool{false, true} {
			f := fakeapi.New()
			f.HonoursKeys = honours
			late := &lateRequest{API: f}
			_, err := create.do(t.Context(), newClient(t, f, func(o *Options) { o.Transport = late }))
			_, isUnknown := errors.AsType[*UnknownOutcomeError](err)
			assert.Check(t, isUnknown != honours && (!honours || err == nil), "%s, keys %t: %v", name, honours, err)
			late.arrive(t)
			stored := f.Stored[create.stored]
			assert.Check(t, len(stored) == 1, "%s, keys %t: stored %v", name, honours, stored)
		}
	}
}
