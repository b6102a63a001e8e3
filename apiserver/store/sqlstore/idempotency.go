package sqlstore

import (
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

var idempotencyRecords = newTable(table[store.IdempotencyRecord]{name: "idempotency_records"})

func (r *reader) IdempotencyRecord(keyHash []byte, now time.Time) (store.IdempotencyRecord, error) {
	return one(r, idempotencyRecords, r.inAllAccounts().
		and(`t.key_hash = ?`, keyHash).
		and(`t.expires_at > ?`, now))
}

// PutIdempotencyRecord replaces any record of the key: the caller has checked that
// there is none that has not expired.
func (t *tx) PutIdempotencyRecord(r store.IdempotencyRecord) error {
	return t.exec(`INSERT INTO idempotency_records (key_hash, fingerprint, response, expires_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (key_hash) DO UPDATE SET fingerprint = excluded.fingerprint, response = excluded.response, expires_at = excluded.expires_at`,
		r.KeyHash, r.Fingerprint, r.Response, r.ExpiresAt)
}

func (t *tx) DeleteExpiredIdempotencyRecords(before time.Time) error {
	return t.exec(`DELETE FROM idempotency_records WHERE expires_at < $1`, before)
}
