package client

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// CreateOption changes how something is created.
type CreateOption func(*resumption)

// Resumable lets a create take over what an earlier, interrupted run of this
// program created. Its Idempotency-Key is derived from the request, so that an API
// that honours keys replays the earlier response instead of reporting a conflict.
// If the API also reports that the earlier response was not delivered, and the
// object is still as that response says, the object is returned and *resumed is
// set. Otherwise the request is sent again under a new key.
//
// Use it only for objects that are unique, so that the one taken over is the one
// that was meant, and for responses without a secret, because a derived key is not
// secret.
func Resumable(resumed *bool) CreateOption {
	return func(r *resumption) { r.wanted, r.resumed = true, resumed }
}

// resumption holds the CreateOptions. The zero value resumes nothing.
type resumption struct {
	wanted  bool
	resumed *bool
}

func resumptionOf(opts []CreateOption) (r resumption) {
	for _, opt := range opts {
		opt(&r)
	}
	return r
}

// derivedKeys are the Idempotency-Keys that were derived from requests. Each is
// used once in a process, because the same request again comes from a second
// resource and must get the conflict.
type derivedKeys struct {
	mu   sync.Mutex
	used map[string]bool
}

// take returns the key of a request, or "" if it was used.
func (d *derivedKeys) take(accountID string, s api.Spec, req any) (string, error) {
	content, err := json.Marshal(req)
	if err != nil {
		return "", err
	}
	namespace := uuid.NewSHA1(uuid.NameSpaceURL, []byte(accountID))
	key := uuid.NewSHA1(namespace, append([]byte(s.ID+" "), content...)).String()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.used[key] {
		return "", nil
	}
	if d.used == nil {
		d.used = map[string]bool{}
	}
	d.used[key] = true
	return key, nil
}

// createResumable is create for a request that may resume one of an earlier run.
// read reads the object of a replayed response; same reports whether it is still as
// that response says.
func createResumable[Req, Resp any](
	ctx context.Context, c *Client, op api.Operation[Req, Resp], req *Req, cr *creation[Resp], r resumption,
	read func(context.Context, *Resp) (*Resp, error), same func(then, now *Resp) bool,
) (*Resp, error) {
	if !r.wanted {
		return create(ctx, c, op, req, cr)
	}
	var err error
	if cr.key, err = c.derived.take(c.accountID, op.Spec, req); err != nil {
		return nil, err
	}
	then, err := create(ctx, c, op, req, cr)
	if err == nil && cr.lookedUp {
		fetchReplay(ctx, c, op, req, cr.key)
	}
	if err != nil || !cr.earlier && !cr.doubtful {
		return then, err
	}
	unreadable := false
	if cr.undelivered || cr.doubtful {
		now, err := read(context.WithValue(ctx, freshKey{}, true), then)
		unreadable = IsUnsupported(err)
		switch {
		case err == nil && same(then, now):
			*r.resumed = cr.earlier
			return now, nil
		case err != nil && !IsNotFound(err) && !unreadable:
			return nil, err
		}
	}
	// The earlier run got its response, or the object is gone, changed or can't be
	// read: a new request creates it or gets the conflict.
	cr.key = ""
	created, err := create(ctx, c, op, req, cr)
	if unreadable && IsConflict(err) {
		*r.resumed = true
		return then, nil
	}
	return created, err
}

// fetchReplay sends a create once more after its response was lost and a lookup found
// the object. The API returns the response again and counts it as delivered; otherwise
// a later run would resume this create and take the object over. Its outcome does not
// matter: what is created can exist only once.
func fetchReplay[Req, Resp any](ctx context.Context, c *Client, op api.Operation[Req, Resp], req *Req, key string) {
	if key == "" {
		return
	}
	if x, err := c.begin(op.Spec, req, keyed(key)); err == nil {
		_, _ = send[Resp](ctx, x)
	}
}
