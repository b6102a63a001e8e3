package sqlstore

import (
	"fmt"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

var idempotencyRecords = newTable(table[store.IdempotencyRecord]{
	name:    "idempotency_records",
	columns: []string{"key_hash", "fingerprint", "response", "expires_at", "interrupted_request", "interrupted_id"},
	fields: func(r *store.IdempotencyRecord) []any {
		return []any{&r.KeyHash, &r.Fingerprint, &r.Response, micros{&r.ExpiresAt}, &r.InterruptedRequest, &r.InterruptedID}
	},
})

func (r *reader) IdempotencyRecord(keyHash []byte, now time.Time) (store.IdempotencyRecord, error) {
	return one(r, idempotencyRecords, r.inAllAccounts().
		and(`t.key_hash = ?`, keyHash).
		and(`t.expires_at > ?`, micros{&now}))
}

func (r *reader) InterruptedCreate(request []byte, now time.Time) (store.IdempotencyRecord, error) {
	return one(r, idempotencyRecords, r.inAllAccounts().
		and(`t.interrupted_request = ?`, request).
		and(`t.expires_at > ?`, micros{&now}))
}

// PutIdempotencyRecord replaces any record of the key: the caller has checked that
// there is none that has not expired.
func (t *tx) PutIdempotencyRecord(r store.IdempotencyRecord) error {
	_, err := t.exec(`INSERT INTO idempotency_records (key_hash, fingerprint, response, expires_at, interrupted_request, interrupted_id)
		VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (key_hash) DO UPDATE
		SET fingerprint = excluded.fingerprint, response = excluded.response, expires_at = excluded.expires_at,
			interrupted_request = excluded.interrupted_request, interrupted_id = excluded.interrupted_id`,
		idempotencyRecords.fields(&r)...)
	if err != nil {
		return fmt.Errorf("store an idempotency record: %w", err)
	}
	return nil
}

func (t *tx) MarkInterrupted(keyHash, request []byte, id string) error {
	if _, err := t.exec(`UPDATE idempotency_records SET interrupted_request = $1, interrupted_id = $2 WHERE key_hash = $3`, request, id, keyHash); err != nil {
		return fmt.Errorf("mark a create as interrupted: %w", err)
	}
	return nil
}

func (t *tx) DeleteExpiredIdempotencyRecords(before time.Time) error {
	if _, err := t.exec(`DELETE FROM idempotency_records WHERE expires_at < $1`, micros{&before}); err != nil {
		return fmt.Errorf("delete expired idempotency records: %w", err)
	}
	return nil
}
