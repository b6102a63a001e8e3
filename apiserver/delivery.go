package apiserver

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// A create whose response does not reach its client leaves an object that nobody
// knows of: a later run of the same configuration would get a conflict. The
// idempotency record of such a create is therefore marked as interrupted, and the
// same request of the same caller under another key returns the object, once, with an
// Idempotency-Resumed header.
//
//	the client left before the commit         the transaction of the create marks it
//	it left before the last byte was written  the end of the request marks it
//	a replay of the response reaches it, or
//	that of a GET request that looks it up    the mark is removed
//	the server is killed after the commit     no mark: the next run gets the conflict
//
// In doubt there is no mark: a second resource for an object that another one manages
// would be worse than a conflict, which says how to import the object.

// created is what a create that can be resumed has created.
type created struct {
	requestHash []byte
	id          string
}

// resumable runs a create within a transaction, or returns the object of the same
// create if that was interrupted. existing returns the object with an id if it still is
// as the request wants it, and otherwise an error that is store.ErrNotFound. idOf
// returns the id of a response.
func resumable[Req, Resp any](
	c *call, tx store.Tx, body *Req, idOf func(*Resp) string,
	existing func(id string) (*Resp, error), create func() (*Resp, error),
) (*Resp, error) {
	hash, err := c.requestHash(body)
	if err != nil {
		return nil, err
	}
	var out *Resp
	record, err := tx.InterruptedCreate(hash, c.at)
	if err == nil {
		if err := tx.MarkInterrupted(record.KeyHash, nil, ""); err != nil {
			return nil, err
		}
		out, err = existing(record.InterruptedID)
		c.resumed = err == nil
	}
	if errors.Is(err, store.ErrNotFound) {
		out, err = create()
	}
	if err != nil {
		return nil, err
	}
	c.created = &created{hash, idOf(out)}
	return out, nil
}

// requestHash identifies the caller and a request's body, whatever its
// Idempotency-Key.
func (c *call) requestHash(body any) ([]byte, error) {
	content, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return c.hash(c.spec.ID, string(content)), nil
}

// deliveries are the keys of the requests that are in flight in this process.
type deliveries struct {
	mu    sync.Mutex
	byKey map[string]*delivery
}

// delivery is what the requests in flight under one key share: the creates, and GET
// requests that look the outcome up.
type delivery struct {
	key      []byte
	requests int  // guarded by deliveries.mu
	running  bool // likewise: a create is in its operation

	mu        sync.Mutex
	delivered bool // a client got the response, or looked the outcome up
	marked    bool // the record is marked as interrupted
}

// begin registers a request under a key, which the caller ends. It returns nil if the
// request is a create and another one is running.
func (d *deliveries) begin(key []byte, isCreate bool) *delivery {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.byKey == nil {
		d.byKey = map[string]*delivery{}
	}
	of := d.byKey[string(key)]
	if of == nil {
		of = &delivery{key: key}
		d.byKey[string(key)] = of
	}
	if isCreate {
		if of.running {
			return nil
		}
		of.running = true
	}
	of.requests++
	return of
}

// ran lets the next create with the key in: the response to the last one is stored.
func (d *deliveries) ran(of *delivery) {
	d.mu.Lock()
	defer d.mu.Unlock()
	of.running = false
}

func (d *deliveries) end(of *delivery) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if of.requests--; of.requests == 0 {
		delete(d.byKey, string(of.key))
	}
}

// conclude ends a request that has an Idempotency-Key, and marks the record if the
// client does not have the response of its create, or removes the mark if it does now.
// A response has reached the client if all of it was written and the client was still
// connected afterwards. In process, the client has read the whole body by then; over a
// socket, it may still die before the last bytes reach it.
func (s *Service) conclude(ctx context.Context, p *progress, rec *statusRecorder, returned bool) {
	of := p.delivery
	if of == nil {
		return
	}
	defer s.deliveries.end(of)
	of.mu.Lock()
	defer of.mu.Unlock()
	reached := returned && rec.status >= http.StatusOK && rec.status < http.StatusMultipleChoices && rec.failed == nil && ctx.Err() == nil
	ctx = context.WithoutCancel(ctx)
	var err error
	switch {
	case reached:
		of.delivered = true
		if of.marked = of.marked || p.interrupted || p.looksUp != "" && s.isInterrupted(ctx, of.key); of.marked {
			err = s.markInterrupted(ctx, of.key, created{})
			of.marked = false
		}
	case p.created != nil && !of.delivered:
		err = s.markInterrupted(ctx, of.key, *p.created)
		of.marked = true
	}
	if err != nil {
		s.log.Error("can't record whether a response was delivered", "request_id", p.ID, "error", err)
	}
}

func (s *Service) markInterrupted(ctx context.Context, key []byte, what created) error {
	return s.store.Update(ctx, func(tx store.Tx) error { return tx.MarkInterrupted(key, what.requestHash, what.id) })
}

func (s *Service) isInterrupted(ctx context.Context, key []byte) (is bool) {
	_ = s.store.View(ctx, func(r store.Reader) error {
		record, err := r.IdempotencyRecord(key, s.now())
		is = err == nil && record.InterruptedRequest != nil
		return nil
	})
	return is
}
