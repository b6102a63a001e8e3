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

// Resumable lets a create go on where an earlier run of this program was cut
// off after its request had been done: the Idempotency-Key is derived from the
// request, so that an API that honours keys gives the earlier answer again, for
// as long as it keeps it, in place of a refusal because the object exists. Where
// the API also says that this answer was lost then, the object is read anew and
// returned, and *resumed is set. Where it was not lost, or the object is gone or
// changed by now, or the earlier answer was a refusal, whose reason may be gone,
// the request is sent as a new one.
//
// It is only for what can exist once, so that what is taken is what was meant,
// and for answers without a secret, because such a key is no secret itself.
func Resumable(resumed *bool) CreateOption {
	return func(r *resumption) { r.wanted, r.resumed = true, resumed }
}

// resumption is what Resumable asks for. The zero value asks for nothing.
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
// used once in a process: the same request again is another wish, and what it
// asks for exists already.
type derivedKeys struct {
	mu   sync.Mutex
	used map[string]bool
}

// take returns the key of a request, or "" where it was used.
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

// createResumable is create for a request that may resume one of an earlier
// run. read reads an object by what an answer says of it, same tells whether it
// is still as the answer says.
func createResumable[Req, Resp any](
	ctx context.Context, c *Client, op api.Operation[Req, Resp], req *Req, cr *creation[Resp], r resumption,
	read func(context.Context, *Resp) (*Resp, error), same func(answer, now *Resp) bool,
) (*Resp, error) {
	if !r.wanted {
		return create(ctx, c, op, req, cr)
	}
	var err error
	if cr.key, err = c.derived.take(c.accountID, op.Spec, req); err != nil {
		return nil, err
	}
	answer, err := create(ctx, c, op, req, cr)
	if err != nil && cr.stale && !cr.paid {
		// The refusal may be of an earlier run, and what it was for mended since.
		cr.key = ""
		return create(ctx, c, op, req, cr)
	}
	if err != nil || !cr.earlier {
		return answer, err
	}
	if !cr.undelivered {
		// The earlier run has got its answer: this is a new wish for the same.
		cr.key = ""
		return create(ctx, c, op, req, cr)
	}
	now, readErr := read(context.WithValue(ctx, freshKey{}, true), answer)
	switch {
	case readErr == nil && same(answer, now):
		*r.resumed = true
		return now, nil
	case readErr != nil && !IsNotFound(readErr) && !IsUnsupported(readErr):
		return nil, readErr
	}
	// What the earlier run created is gone or changed, or can't be read: a new
	// request tells whether it is there.
	cr.key = ""
	created, err := create(ctx, c, op, req, cr)
	if IsConflict(err) && IsUnsupported(readErr) {
		*r.resumed = true
		return answer, nil
	}
	return created, err
}
