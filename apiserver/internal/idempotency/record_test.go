package idempotency

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// TestSealedResponses checks that an opened response equals the sealed one, that a long response is
// stored compressed, that an uncompressed one of version 0.1.0 can be opened, and that no caller
// can use another caller's record.
func TestSealedResponses(t *testing.T) {
	who := auth.Caller{AccountID: "account", Subjects: []store.Subject{{Type: "service_account", ID: "ci"}}}
	k := newKey(who, "create-mailbox", "a key", nil)
	for _, other := range []auth.Caller{{AccountID: "another", Subjects: who.Subjects}, {AccountID: who.AccountID, Subjects: []store.Subject{{Type: "user", ID: "ci"}}}, {AccountID: who.AccountID, Subjects: []store.Subject{{Type: "service_account", ID: "cd"}}}} {
		assert.Check(t, !bytes.Equal(newKey(other, "create-mailbox", "a key", nil).hash, k.hash), "%+v has the record of %+v", other, who)
	}
	medium, long := []byte(strings.Repeat("x", packedFrom)), []byte("["+strings.Repeat(`{"local_part":"jane"},`, 1000)+"{}]")
	for _, response := range [][]byte{nil, []byte(`{"id":"x"}`), medium, long} {
		sealed := k.seal(response)
		if uncompressed := len(response) + k.cipher.Overhead(); len(sealed) > 500 || len(response) < packedFrom && len(sealed) != uncompressed {
			t.Errorf("a response of %d bytes is stored as %d", len(response), len(sealed))
		}
		uncompressed := k.cipher.Seal(nil, nil, response, k.fingerprint)
		opened, err := newKey(who, "create-mailbox", "another key", nil).open(sealed)
		assert.Check(t, err != nil, "a response is opened with another key as %q", opened)
		for _, stored := range [][]byte{sealed, uncompressed} {
			opened, err := k.open(stored)
			assert.Check(t, err == nil && bytes.Equal(opened, response), "a response of %d bytes is opened as %d bytes, %v", len(response), len(opened), err)
		}
	}
}

// stored is a reader with one record.
type stored struct {
	store.Reader
	record store.IdempotencyRecord
	err    error
}

func (s stored) IdempotencyRecord([]byte, time.Time) (store.IdempotencyRecord, error) {
	return s.record, s.err
}

// TestReplay checks that a record is replayed only to its own request, that a damaged record is an
// error, and that after a reset the next request deletes expired records.
func TestReplay(t *testing.T) {
	records := new(Records)
	q, err := records.Begin(auth.Caller{Subjects: []store.Subject{{}}}, "create-mailbox", "a key", nil)
	assert.NilError(t, err)
	for _, tt := range []struct {
		fingerprint, response []byte
		replayed              bool
	}{{q.key.fingerprint, q.key.seal([]byte("{}")), true}, {q.key.fingerprint, []byte("damaged"), false}, {[]byte("other"), q.key.seal(nil), false}} {
		replayed, err := q.Replay(stored{record: store.IdempotencyRecord{Fingerprint: tt.fingerprint, Response: tt.response}}, time.Time{})
		assert.Check(t, replayed == tt.replayed && (err == nil) == tt.replayed, "replayed %t, %v; want %t", replayed, err, tt.replayed)
	}
	for _, failure := range []error{store.ErrNotFound, errors.ErrUnsupported} {
		replayed, err := q.Replay(stored{err: failure}, time.Time{})
		assert.Check(t, !replayed && errors.Is(err, errors.ErrUnsupported) == (failure != store.ErrNotFound), "%v: replayed %t, %v", failure, replayed, err)
	}
	unkeyed := &Request{records: records}
	replayed, err := unkeyed.Replay(stored{record: store.IdempotencyRecord{}}, time.Time{})
	assert.Check(t, !replayed && err == nil, "without a key: replayed %t, %v", replayed, err)
	records.cleanedAt.Store(1)
	if records.Reset(); records.cleanedAt.Load() != 0 {
		t.Error("a reset keeps the time of the last cleaning")
	}
}

// savedTx is a transaction that records the writes of Save. Deleting fails with err.
type savedTx struct {
	store.Tx
	saved    []store.IdempotencyRecord
	cleaned  int
	cleanErr error
}

func (tx *savedTx) PutIdempotencyRecord(r store.IdempotencyRecord) error {
	tx.saved = append(tx.saved, r)
	return nil
}

func (tx *savedTx) DeleteExpiredIdempotencyRecords(time.Time) error {
	tx.cleaned++
	return tx.cleanErr
}

// TestSave checks that a response is stored for a day, that expired records are deleted at most
// once an hour, and that errors of both are returned.
func TestSave(t *testing.T) {
	who := auth.Caller{Subjects: []store.Subject{{}}}
	records, begun := new(Records), time.Unix(1_000_000, 0)
	for _, tc := range []struct {
		key            string
		after          time.Duration
		response       any
		cleanErr       error
		saved, cleaned int // saved is -1 if Save fails
	}{
		{"a", 0, "x", nil, 1, 1},
		{"a", time.Hour, "x", nil, 1, 0},
		{"", 2 * time.Hour, "x", nil, 0, 0},
		{"a", time.Hour + time.Second, "x", errors.ErrUnsupported, -1, 1},
		{"a", time.Hour + 2*time.Second, make(chan int), nil, -1, 0},
		{"a", -365 * 24 * time.Hour, "x", nil, 1, 1}, // the clock was ahead
	} {
		q, err := records.Begin(who, "create-mailbox", tc.key, nil)
		assert.NilError(t, err, "after the response to the last request")
		_, err = records.Begin(who, "create-mailbox", tc.key, nil)
		assert.Check(t, (err != nil) == (tc.key != ""), "a second request under the key %q: %v", tc.key, err)
		tx, at := &savedTx{cleanErr: tc.cleanErr}, begun.Add(tc.after)
		if err := q.Save(tx, at, tc.response); tx.cleaned != tc.cleaned || (err != nil) != (tc.saved < 0) || err == nil && len(tx.saved) != tc.saved {
			t.Errorf("%+v: %d saved, %d cleaned, %v", tc, len(tx.saved), tx.cleaned, err)
		} else if err != nil {
			q.Done()
			continue // the transaction is rolled back
		}
		for _, record := range tx.saved {
			if ok, err := q.Replay(stored{record: record}, at); !ok || err != nil || !q.Replayed || string(q.Response()) != "\"x\"\n" || !record.ExpiresAt.Equal(at.Add(24*time.Hour)) {
				t.Errorf("%q, which expires at %s, is replayed as %t, %v", q.Response(), record.ExpiresAt, ok, err)
			}
		}
		if ok, err := q.Replay(stored{err: store.ErrNotFound}, at); ok || err != nil || q.Replayed || q.Response() != nil {
			t.Error("a new attempt has the outcome of an earlier one")
		}
		q.Done()
	}
}
