package idempotency

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// TestSealedResponses checks that a response is opened as it was sealed, that a long one is
// stored compressed, and that one of version 0.1.0 is not expected to be.
func TestSealedResponses(t *testing.T) {
	who := auth.Caller{AccountID: "account", Subjects: []store.Subject{{Type: "service_account", ID: "ci"}}}
	k := newKey(who, "create-mailbox", "a key", nil)
	medium, long := []byte(strings.Repeat("x", packedFrom)), []byte("["+strings.Repeat(`{"local_part":"jane"},`, 1000)+"{}]")
	for _, response := range [][]byte{nil, []byte(`{"id":"x"}`), medium, long} {
		sealed := k.seal(response)
		if uncompressed := len(response) + k.cipher.Overhead(); len(sealed) > 500 || len(response) < packedFrom && len(sealed) != uncompressed {
			t.Errorf("a response of %d bytes is stored as %d", len(response), len(sealed))
		}
		uncompressed := k.cipher.Seal(nil, nil, response, k.fingerprint)
		if opened, err := newKey(who, "create-mailbox", "another key", nil).open(sealed); err == nil {
			t.Errorf("a response is opened with another key as %q", opened)
		}
		for _, stored := range [][]byte{sealed, uncompressed} {
			if opened, err := k.open(stored); err != nil || !bytes.Equal(opened, response) {
				t.Errorf("a response of %d bytes is opened as %d bytes, %v", len(response), len(opened), err)
			}
		}
	}
}

// stored is a reader with one record.
type stored struct {
	store.Reader
	record store.IdempotencyRecord
}

func (s stored) IdempotencyRecord([]byte, time.Time) (store.IdempotencyRecord, error) {
	return s.record, nil
}

// TestReplay checks that a record is replayed to its own request alone, and that a damaged one is
// an error; and that a reset lets the next request delete expired records.
func TestReplay(t *testing.T) {
	records := New()
	q, err := records.Begin(auth.Caller{Subjects: []store.Subject{{}}}, "create-mailbox", "a key", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		fingerprint, response []byte
		replayed              bool
	}{{q.key.fingerprint, q.key.seal([]byte("{}")), true}, {q.key.fingerprint, []byte("damaged"), false}, {[]byte("other"), q.key.seal(nil), false}} {
		replayed, err := q.Replay(stored{record: store.IdempotencyRecord{Fingerprint: tt.fingerprint, Response: tt.response}}, time.Time{})
		if replayed != tt.replayed || (err == nil) != tt.replayed {
			t.Errorf("replayed %t, %v; want %t", replayed, err, tt.replayed)
		}
	}
	records.cleanedAt.Store(1)
	if records.Reset(); records.cleanedAt.Load() != 0 {
		t.Error("a reset keeps the time of the last cleaning")
	}
}
