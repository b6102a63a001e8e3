package idempotency

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// recordTTL is how long the response to a keyed request is replayed.
const recordTTL = 24 * time.Hour

// cleanupInterval is how often expired records are deleted.
const cleanupInterval = time.Hour

// key is derived from a request's Idempotency-Key. The Idempotency-Key itself is not
// stored, so that only a caller that resends it can decrypt the response.
type key struct {
	hash        []byte // identifies the caller and the key
	fingerprint []byte // identifies the request, and reveals no secret in it
	cipher      cipher.AEAD
}

func newKey(q *Request, idempotencyKey string, input any) (*key, error) {
	request, err := json.Marshal(input)
	if err != nil {
		return nil, err
	}
	secret, err := hkdf.Key(sha256.New, []byte(idempotencyKey), nil, "answer", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	mac := hmac.New(sha256.New, []byte(idempotencyKey))
	fmt.Fprintf(mac, "%s %s", q.operationID, request)
	return &key{hash: q.hash(idempotencyKey), fingerprint: mac.Sum(nil), cipher: aead}, nil
}

func (k *key) seal(plain, nonce []byte) []byte {
	return k.cipher.Seal(nonce, nonce, plain, k.fingerprint)
}

func (k *key) open(sealed []byte) ([]byte, error) {
	n := k.cipher.NonceSize()
	if len(sealed) < n {
		return nil, errors.New("an idempotency record is truncated")
	}
	plain, err := k.cipher.Open(nil, sealed[:n], sealed[n:], k.fingerprint)
	if err != nil {
		return nil, fmt.Errorf("decrypt an idempotency record: %w", err)
	}
	return plain, nil
}

// Replay returns the response that is stored under the request's key, or nil. The error
// is a 422 if the key was used for another request.
func Replay[Resp any](q *Request, r store.Reader, at time.Time) (*Resp, error) {
	if q.key == nil {
		return nil, nil
	}
	record, err := r.IdempotencyRecord(q.key.hash, at)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !hmac.Equal(record.Fingerprint, q.key.fingerprint) {
		return nil, api.Unprocessable(api.Invalid("this Idempotency-Key was used for another request; use a new one").At("header", api.IdempotencyKeyHeader))
	}
	response, err := q.key.open(record.Response)
	if err != nil {
		return nil, err
	}
	q.Replayed, q.interrupted = true, record.InterruptedRequest != nil
	out := new(Resp)
	return out, json.Unmarshal(response, out)
}

// Restart clears the outcome of an earlier attempt at the operation's transaction.
func (q *Request) Restart() { q.Replayed, q.Resumed, q.created = false, false, nil }

// Save stores the response under the request's key, if it has one, and deletes expired
// records about once an hour.
func (q *Request) Save(ctx context.Context, tx store.Tx, at time.Time, response any) error {
	if q.key == nil {
		return nil
	}
	plain, err := json.Marshal(response)
	if err != nil {
		return err
	}
	cleanedAt := &q.records.cleanedAt
	if last := cleanedAt.Load(); at.Unix()-last > int64(cleanupInterval/time.Second) && cleanedAt.CompareAndSwap(last, at.Unix()) {
		if err := tx.DeleteExpiredIdempotencyRecords(at); err != nil {
			return err
		}
	}
	record := store.IdempotencyRecord{
		KeyHash: q.key.hash, Fingerprint: q.key.fingerprint, ExpiresAt: at.Add(recordTTL),
		Response: q.key.seal(plain, q.records.random.Bytes(q.key.cipher.NonceSize())),
	}
	q.markIfGone(ctx, &record)
	return tx.PutIdempotencyRecord(record)
}
