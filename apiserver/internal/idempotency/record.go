package idempotency

import (
	"bytes"
	"cmp"
	"compress/flate"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// recordTTL is how long a response is replayed.
const recordTTL = 24 * time.Hour

// cleanupInterval is the time between two deletions of expired records.
const cleanupInterval = time.Hour

// key is derived from an Idempotency-Key. The Idempotency-Key is not stored: only a caller that
// resends it can decrypt the response.
type key struct {
	hash        []byte // identifies the caller and the key
	fingerprint []byte // identifies the request, and reveals no secret in it
	cipher      cipher.AEAD
}

func newKey(who auth.Caller, operationID, idempotencyKey string, input any) *key {
	hash := sha256.New()
	for _, part := range []string{who.AccountID, who.Subjects[0].Type, who.Subjects[0].ID, idempotencyKey} {
		fmt.Fprintf(hash, "%d:%s", len(part), part)
	}
	request, _ := json.Marshal(input) // input was decoded from JSON
	mac := hmac.New(sha256.New, []byte(idempotencyKey))
	fmt.Fprintf(mac, "%s %s", operationID, request)
	return &key{hash: hash.Sum(nil), fingerprint: mac.Sum(nil), cipher: auth.Cipher([]byte(idempotencyKey), "answer")}
}

// packedFrom is the size in bytes from which a response is compressed, for instance of a bulk
// create.
const packedFrom = 1 << 10

// packed is the first byte of a compressed response. No JSON begins with it.
const packed = 0

func (k *key) seal(response []byte) []byte {
	if len(response) >= packedFrom {
		out := bytes.NewBuffer([]byte{packed})
		w, _ := flate.NewWriter(out, flate.BestSpeed) // the level is valid, and writing to memory never fails
		_, _ = w.Write(response)
		_ = w.Close()
		response = out.Bytes()
	}
	return k.cipher.Seal(nil, nil, response, k.fingerprint)
}

func (k *key) open(sealed []byte) ([]byte, error) {
	response, err := k.cipher.Open(nil, nil, sealed, k.fingerprint)
	if err != nil {
		return nil, fmt.Errorf("decrypt an idempotency record: %w", err)
	}
	if len(response) == 0 || response[0] != packed {
		return response, nil
	}
	return io.ReadAll(flate.NewReader(bytes.NewReader(response[1:])))
}

// Replay reads the recorded response to the key, if any. It returns a 422 if the key was used for
// another request. It first discards the result of an earlier attempt at the transaction.
func (q *Request) Replay(r store.Reader, at time.Time) (bool, error) {
	q.Replayed, q.response = false, nil
	if q.key == nil {
		return false, nil
	}
	record, err := r.IdempotencyRecord(q.key.hash, at)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if !hmac.Equal(record.Fingerprint, q.key.fingerprint) {
		return false, api.Unprocessable(api.Invalid("this Idempotency-Key was used for another request; use a new one").At("header", api.IdempotencyKeyHeader))
	}
	if q.response, err = q.key.open(record.Response); err != nil {
		return false, err
	}
	q.Replayed = true
	return true, nil
}

// Response returns the stored or replayed body, or nil without a key.
func (q *Request) Response() []byte { return q.response }

// Save stores the response under the key, if any. Once an hour, it also deletes expired records, and after the clock
// went back.
func (q *Request) Save(tx store.Tx, at time.Time, response any) error {
	if q.key == nil {
		return nil
	}
	var err error
	q.response, err = api.EncodeJSON(response)
	if cleanedAt := &q.records.cleanedAt; at.Sub(time.Unix(cleanedAt.Load(), 0)).Abs() > cleanupInterval {
		cleanedAt.Store(at.Unix())
		err = cmp.Or(err, tx.DeleteExpiredIdempotencyRecords(at))
	}
	return cmp.Or(err, tx.PutIdempotencyRecord(store.IdempotencyRecord{
		KeyHash: q.key.hash, Fingerprint: q.key.fingerprint, ExpiresAt: at.Add(recordTTL), Response: q.key.seal(q.response),
	}))
}
