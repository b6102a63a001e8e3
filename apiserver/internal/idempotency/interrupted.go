package idempotency

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// The functions are in the order in which a request calls them.

// created identifies a create that can be resumed, and its object.
type created struct {
	requestHash []byte
	id          string
}

// Create is a create that can be resumed.
type Create[Resp any] struct {
	// Body is the request's body: the create of the same body is resumed.
	Body any
	// Existing returns the object with an id if it still is as the request wants it, and
	// otherwise an error that is store.ErrNotFound.
	Existing func(id string) (*Resp, error)
	New      func() (*Resp, error)
	// ID returns the id of the object in a response.
	ID func(*Resp) string
}

// Run returns the object of the same create if that was interrupted, and a new one
// otherwise.
func (c Create[Resp]) Run(q *Request, tx store.Tx, at time.Time) (*Resp, error) {
	// The caller and the body identify the create, whatever its Idempotency-Key.
	content, err := json.Marshal(c.Body)
	if err != nil {
		return nil, err
	}
	hash := q.hash(q.operationID, string(content))
	var out *Resp
	record, err := tx.InterruptedCreate(hash, at)
	if err == nil {
		if err := tx.MarkInterrupted(record.KeyHash, nil, ""); err != nil {
			return nil, err
		}
		out, err = c.Existing(record.InterruptedID)
		q.Resumed = err == nil
	}
	if errors.Is(err, store.ErrNotFound) {
		out, err = c.New()
	}
	if err != nil {
		return nil, err
	}
	q.created = &created{hash, c.ID(out)}
	return out, nil
}

// markIfGone marks the record of a create, before it is stored, if the client has
// disconnected.
func (q *Request) markIfGone(ctx context.Context, record *store.IdempotencyRecord) {
	if q.created != nil && ctx.Err() != nil {
		record.InterruptedRequest, record.InterruptedID = q.created.requestHash, q.created.id
	}
}

// Committed reports to End that the transaction of the request is durable.
func (q *Request) Committed() { q.committed = !q.Replayed }

// End ends a request. delivered reports that the whole of a successful response was
// written and the client was still connected afterwards. In process, the client has read
// the whole body by then; over a socket, it may still die before the last bytes reach it.
// End marks the record if the client does not have the response of its create, and
// removes the mark if it does now.
func (q *Request) End(ctx context.Context, delivered bool) error {
	f := q.flight
	if f == nil {
		return nil
	}
	defer q.records.leave(f)
	f.mu.Lock()
	defer f.mu.Unlock()
	ctx = context.WithoutCancel(ctx)
	switch {
	case delivered:
		f.delivered = true
		marked := f.marked || q.interrupted || q.lookup && q.records.isInterrupted(ctx, f.key)
		f.marked = false
		if marked {
			return q.records.mark(ctx, f.key, created{})
		}
	case q.created != nil && q.committed && !f.delivered:
		f.marked = true
		return q.records.mark(ctx, f.key, *q.created)
	}
	return nil
}

func (r *Records) mark(ctx context.Context, key []byte, what created) error {
	return r.store.Update(ctx, func(tx store.Tx) error { return tx.MarkInterrupted(key, what.requestHash, what.id) })
}

func (r *Records) isInterrupted(ctx context.Context, key []byte) (is bool) {
	_ = r.store.View(ctx, func(reader store.Reader) error {
		record, err := reader.IdempotencyRecord(key, r.now())
		is = err == nil && record.InterruptedRequest != nil
		return nil
	})
	return is
}
