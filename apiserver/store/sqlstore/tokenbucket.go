package sqlstore

import (
	"cmp"
	"errors"
	"time"
)

func (r *reader) TokenBucket(name string) (time.Time, error) {
	fullAt, err := only(column[time.Time](r, `SELECT full_at FROM token_buckets WHERE name = $1`, name))
	return fullAt, ignoreNotFound(err)
}

func (t *tx) UpdateTokenBucket(name string, now time.Time, change func(time.Time) (time.Time, error)) error {
	// The row is written before it is read, so that it is locked even if it is new.
	found, err := column[time.Time](&t.reader, `INSERT INTO token_buckets (name, full_at) VALUES ($1, $2)
		ON CONFLICT (name) DO UPDATE SET full_at = token_buckets.full_at RETURNING full_at`, name, stored(now))
	if err != nil || len(found) != 1 {
		return cmp.Or(err, errors.New("a token bucket must have one row"))
	}
	fullAt := found[0]
	if !fullAt.After(now) {
		fullAt = time.Time{}
	}
	if fullAt, err = change(fullAt); err != nil {
		return err
	}
	if err := t.exec(`UPDATE token_buckets SET full_at = $1 WHERE name = $2`, fullAt, name); err != nil {
		return err
	}
	// More than the one that was added, so that full buckets don't accumulate.
	return t.exec(`DELETE FROM token_buckets WHERE name IN (SELECT t.name FROM token_buckets t
		WHERE t.full_at <= $1 ORDER BY t.full_at LIMIT 4`+t.dialect.SkipLocked+`)`, now)
}
