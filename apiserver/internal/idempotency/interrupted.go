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
	// Type is the type of the object, as the audit log has it.
	Type string
	// Body is the request's body: the create of the same body is resumed.
	Body any
	// Existing returns the object with an id if it still is as the request wants it, and
	// otherwise an error that is store.ErrNotFound.
	Existing func(id string) (*Resp, error)
	// New creates the object. An *store.ExistsError has the id of one like it; Conflict
	// converts that error if the object must not be returned.
	New      func() (*Resp, error)
	Conflict func(error) error
	// ID returns the id of the object in a response.
	ID func(*Resp) string
}

// Run returns the object of the same create if that was interrupted or lost, and a new one
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
		if err := tx.MarkDelivered(record.KeyHash); err != nil {
			return nil, err
		}
		out, err = c.Existing(record.InterruptedID)
		q.Resumed = err == nil
	}
	if errors.Is(err, store.ErrNotFound) {
		if out, err = c.New(); err != nil {
			out, err = c.lost(q, tx, at, err)
		}
	}
	if err != nil {
		return nil, err
	}
	q.created = &created{hash, c.ID(out)}
	return out, q.Created(tx, at, c.Type, c.ID(out))
}

// lost returns the object that New reports to exist, if it is that of a lost create.
func (c Create[Resp]) lost(q *Request, tx store.Tx, at time.Time, cause error) (*Resp, error) {
	exists, ok := errors.AsType[*store.ExistsError](cause)
	if !ok {
		return nil, cause
	}
	existing, err := c.Existing(exists.ID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, c.Conflict(cause)
	case err != nil:
		return nil, err
	}
	isLost, err := q.Resume(tx, at, c.Type, exists.ID)
	if err == nil && !isLost {
		err = c.Conflict(cause)
	}
	return existing, err
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
// End marks the record if the client does not have the response of its create. If the
// client learned of the object in another way, it removes the mark, and makes sure that
// the request of the create, which may still be in flight, sets none.
func (q *Request) End(ctx context.Context, delivered bool) error {
	ctx = context.WithoutCancel(ctx)
	switch {
	case delivered && q.Replayed && !q.known:
		return q.markDelivered(ctx, q.key.hash)
	case delivered && q.lookup != nil && q.records.isUnknown(ctx, q.lookup):
		return q.markDelivered(ctx, q.lookup)
	case !delivered && q.key != nil && q.created != nil && q.committed:
		return q.records.store.Update(ctx, func(tx store.Tx) error {
			return tx.MarkInterrupted(q.key.hash, q.created.requestHash, q.created.id)
		})
	}
	return nil
}

func (q *Request) markDelivered(ctx context.Context, key []byte) error {
	return q.records.store.Update(ctx, func(tx store.Tx) error { return tx.MarkDelivered(key) })
}

// isUnknown reports whether a key has a record that is not Delivered.
func (r *Records) isUnknown(ctx context.Context, key []byte) bool {
	record := r.find(ctx, key)
	return record != nil && !record.Delivered
}

// find returns the record of a key, or nil if there is none or it can't be read.
func (r *Records) find(ctx context.Context, key []byte) (found *store.IdempotencyRecord) {
	_ = r.store.View(ctx, func(reader store.Reader) error {
		if record, err := reader.IdempotencyRecord(key, r.now()); err == nil {
			found = &record
		}
		return nil
	})
	return found
}
