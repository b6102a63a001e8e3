package sqlstore

import (
	"fmt"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

var idempotentAnswers = of(kind[store.IdempotentAnswer]{
	table:   "idempotent_answers",
	columns: []string{"key_hash", "fingerprint", "answer", "expires_at", "delivered"},
	fields: func(a *store.IdempotentAnswer) []any {
		return []any{&a.KeyHash, &a.Fingerprint, &a.Answer, micros{&a.ExpiresAt}, &a.Delivered}
	},
})

// IdempotentAnswer implements store.IdempotencyReader.
func (r *reader) IdempotentAnswer(keyHash []byte, now time.Time) (store.IdempotentAnswer, error) {
	return one(r, idempotentAnswers, r.anywhere().
		and(`t.key_hash = ?`, keyHash).
		and(`t.expires_at > ?`, micros{&now}))
}

// KeepIdempotentAnswer implements store.IdempotencyWriter. It takes for granted
// that the transaction has looked for an answer that still holds.
func (t *tx) KeepIdempotentAnswer(a store.IdempotentAnswer) error {
	_, err := t.exec(`INSERT INTO idempotent_answers (key_hash, fingerprint, answer, expires_at, delivered)
		VALUES ($1, $2, $3, $4, $5) ON CONFLICT (key_hash) DO UPDATE
		SET fingerprint = excluded.fingerprint, answer = excluded.answer, expires_at = excluded.expires_at,
			delivered = excluded.delivered`,
		idempotentAnswers.fields(&a)...)
	if err != nil {
		return fmt.Errorf("keep an answer: %w", err)
	}
	return nil
}

// MarkDelivered implements store.IdempotencyWriter.
func (t *tx) MarkDelivered(keyHashes [][]byte) error {
	delivered := true
	for _, hash := range keyHashes {
		if _, err := t.exec(`UPDATE idempotent_answers SET delivered = $1 WHERE key_hash = $2`, &delivered, hash); err != nil {
			return fmt.Errorf("mark an answer as delivered: %w", err)
		}
	}
	return nil
}

// ForgetIdempotentAnswers implements store.IdempotencyWriter.
func (t *tx) ForgetIdempotentAnswers(before time.Time) error {
	if _, err := t.exec(`DELETE FROM idempotent_answers WHERE expires_at < $1`, micros{&before}); err != nil {
		return fmt.Errorf("forget answers: %w", err)
	}
	return nil
}
