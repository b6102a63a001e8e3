package sqlstore

import (
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

var idempotencyRecords = newTable(table[store.IdempotencyRecord]{name: "idempotency_records", planned: map[string]string{"expires_at": ""}})

func (r *reader) IdempotencyRecord(keyHash []byte, now time.Time) (store.IdempotencyRecord, error) {
	return one(r, idempotencyRecords, r.inAllAccounts().
		and(`t.key_hash = ?`, keyHash).
		and(`t.expires_at > ?`, now))
}

// PutIdempotencyRecord replaces any record of the key: the caller checked that an existing
// record is expired.
func (t *tx) PutIdempotencyRecord(r store.IdempotencyRecord) error {
	return t.exec(`INSERT INTO idempotency_records (key_hash, fingerprint, response, expires_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (key_hash) DO UPDATE SET fingerprint = excluded.fingerprint, response = excluded.response, expires_at = excluded.expires_at`,
		r.KeyHash, r.Fingerprint, r.Response, r.ExpiresAt)
}

func (t *tx) DeleteExpiredIdempotencyRecords(before time.Time) error {
	return t.exec(`DELETE FROM idempotency_records WHERE expires_at < $1`, before)
}

func (r *reader) TokenBucket(name string) (time.Time, error) {
	return only(column[time.Time](r, `SELECT COALESCE(MAX(full_at), 0) FROM token_buckets WHERE name = $1`, name))
}

func (t *tx) UpdateTokenBucket(name string, now time.Time, change func(time.Time) time.Time) error {
	// Writing the row before reading it locks it even if it is new.
	fullAt, err := only(column[time.Time](&t.reader, `INSERT INTO token_buckets (name, full_at) VALUES ($1, $2)
		ON CONFLICT (name) DO UPDATE SET full_at = token_buckets.full_at RETURNING full_at`, name, stored(now)))
	if err != nil {
		return err
	}
	if err := t.exec(`UPDATE token_buckets SET full_at = $1 WHERE name = $2`, change(fullAt), name); err != nil {
		return err
	}
	// Deletes more than the one added row, so that full buckets don't accumulate.
	return t.exec(`DELETE FROM token_buckets WHERE name IN (SELECT t.name FROM token_buckets t
		WHERE t.full_at <= $1 ORDER BY t.full_at LIMIT 4`+t.dialect.SkipLocked+`)`, now)
}

func (r *reader) PublicURL() (string, error) {
	return only(column[string](r, `SELECT public_url FROM server`))
}

func (t *tx) SetPublicURL(url string) (string, error) {
	before, err := t.PublicURL()
	if err != nil || before == url {
		return before, err
	}
	return before, t.change(`UPDATE server SET public_url = $1`, url)
}
