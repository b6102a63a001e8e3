package sqlstore

import (
	"fmt"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

var idempotencyRecords = of(kind[store.IdempotencyRecord]{
	table:   "idempotency_records",
	columns: []string{"key_hash", "fingerprint", "response", "expires_at", "delivered"},
	fields: func(r *store.IdempotencyRecord) []any {
		return []any{&r.KeyHash, &r.Fingerprint, &r.Response, micros{&r.ExpiresAt}, &r.Delivered}
	},
})

// IdempotencyRecord implements store.IdempotencyReader.
func (r *reader) IdempotencyRecord(keyHash []byte, now time.Time) (store.IdempotencyRecord, error) {
	return one(r, idempotencyRecords, r.anywhere().
		and(`t.key_hash = ?`, keyHash).
		and(`t.expires_at > ?`, micros{&now}))
}

// PutIdempotencyRecord implements store.IdempotencyWriter. It relies on
// the transaction having looked for a record that has not expired.
func (t *tx) PutIdempotencyRecord(r store.IdempotencyRecord) error {
	_, err := t.exec(`INSERT INTO idempotency_records (key_hash, fingerprint, response, expires_at, delivered)
		VALUES ($1, $2, $3, $4, $5) ON CONFLICT (key_hash) DO UPDATE
		SET fingerprint = excluded.fingerprint, response = excluded.response, expires_at = excluded.expires_at,
			delivered = excluded.delivered`,
		idempotencyRecords.fields(&r)...)
	if err != nil {
		return fmt.Errorf("store an idempotency record: %w", err)
	}
	return nil
}

// MarkDelivered implements store.IdempotencyWriter.
func (t *tx) MarkDelivered(keyHashes [][]byte) error {
	delivered := true
	for _, hash := range keyHashes {
		if _, err := t.exec(`UPDATE idempotency_records SET delivered = $1 WHERE key_hash = $2`, &delivered, hash); err != nil {
			return fmt.Errorf("mark a response as delivered: %w", err)
		}
	}
	return nil
}

// DeleteExpiredIdempotencyRecords implements store.IdempotencyWriter.
func (t *tx) DeleteExpiredIdempotencyRecords(before time.Time) error {
	if _, err := t.exec(`DELETE FROM idempotency_records WHERE expires_at < $1`, micros{&before}); err != nil {
		return fmt.Errorf("delete expired idempotency records: %w", err)
	}
	return nil
}
