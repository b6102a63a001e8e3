package idempotency

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// unconfirmedTTL is for how long a lost create can be resumed.
const unconfirmedTTL = 7 * 24 * time.Hour

// Origin is the value of an Idempotency-Origin header.
type Origin struct {
	// ID identifies a configuration with its state. It is empty without a header.
	ID string
	// Run identifies the process that sends a create; empty in other requests.
	Run string
}

var originPart = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// ParseOrigin reads an Idempotency-Origin header. One that is malformed counts as none.
func ParseOrigin(header string) (o Origin) {
	id, run, hasRun := strings.Cut(header, " ")
	if !originPart.MatchString(id) || hasRun && !originPart.MatchString(run) {
		return o
	}
	return Origin{ID: id, Run: run}
}

// Created adds objects that the request creates to the unconfirmed creates of its origin.
func (q *Request) Created(tx store.Tx, at time.Time, objectType string, ids ...string) error {
	if q.origin.Run == "" || len(ids) == 0 {
		return nil
	}
	return tx.AddUnconfirmedCreates(store.UnconfirmedCreate{
		AccountID: q.caller.AccountID, Origin: q.origin.ID, Run: q.origin.Run, Caller: q.hash(), ObjectType: objectType, ExpiresAt: at.Add(unconfirmedTTL),
	}, ids)
}

// Resume reports whether the request may return an existing object, because the same
// caller has created it in a lost create of the request's origin.
func (q *Request) Resume(r store.Reader, at time.Time, objectType, id string) (bool, error) {
	if q.origin.Run == "" {
		return false, nil
	}
	c, err := r.UnconfirmedCreate(q.caller.AccountID, q.origin.ID, objectType, id, at)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	isLost := err == nil && q.isLost(c)
	q.Resumed = q.Resumed || isLost
	return isLost, err
}

// Lost returns the ids of the objects of a type that Resume would return. The request must
// set Resumed if it returns one of them.
func (q *Request) Lost(r store.Reader, at time.Time, objectType string) (ids []string, err error) {
	if q.origin.Run == "" {
		return nil, nil
	}
	creates, err := r.UnconfirmedCreates(q.caller.AccountID, q.origin.ID, objectType, at)
	for _, c := range creates {
		if q.isLost(c) {
			ids = append(ids, c.ObjectID)
		}
	}
	return ids, err
}

// isLost reports whether an unconfirmed create can be resumed by this request. One of the
// same run was seen by no plan yet, whatever it says.
func (q *Request) isLost(c store.UnconfirmedCreate) bool {
	return c.Lost && c.Run != q.origin.Run && bytes.Equal(c.Caller, q.hash())
}

// Unconfirmed reports whether the origin that a GET request names has unconfirmed creates.
// known is false if the request names none.
func (q *Request) Unconfirmed(ctx context.Context) (exist, known bool) {
	if q.origin.ID == "" || q.origin.Run != "" {
		return false, false
	}
	err := q.records.store.View(ctx, func(r store.Reader) (err error) {
		exist, err = r.HasUnconfirmedCreates(q.caller.AccountID, q.origin.ID, q.records.now())
		return err
	})
	return exist, err == nil
}
