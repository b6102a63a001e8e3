package sqlstore

import (
	"fmt"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

var mailQueue = newTable(table[store.QueuedMessage]{
	name:    "mail_queue",
	columns: []string{"forwarding_id", "account_id", "request_id", "attempts", "due_at"},
	fields: func(m *store.QueuedMessage) []any {
		return []any{&m.ForwardingID, &m.AccountID, &m.RequestID, &m.Attempts, micros{&m.DueAt}}
	},
})

func (r *reader) NextMessageDue() (time.Time, error) {
	due, err := column[int64](r, `SELECT due_at FROM mail_queue ORDER BY due_at LIMIT 1`)
	if err != nil {
		return time.Time{}, err
	}
	if len(due) == 0 {
		return time.Time{}, store.ErrNotFound
	}
	return time.UnixMicro(due[0]).UTC(), nil
}

func (t *tx) QueueMessage(m store.QueuedMessage) error {
	if _, err := t.exec(`INSERT INTO mail_queue (forwarding_id, account_id, request_id, attempts, due_at)
		VALUES ($1, $2, $3, $4, $5) ON CONFLICT (forwarding_id) DO UPDATE
		SET request_id = excluded.request_id, attempts = excluded.attempts, due_at = excluded.due_at`,
		mailQueue.fields(&m)...); err != nil {
		return fmt.Errorf("queue a message: %w", err)
	}
	return nil
}

func (t *tx) ClaimMessages(now, until time.Time, n int) ([]store.QueuedMessage, error) {
	w := t.inAllAccounts().and(`t.due_at <= ?`, micros{&now})
	claimed, err := collect(&t.reader, mailQueue, mailQueue.selection+` FROM mail_queue t`+w.text.String()+
		` ORDER BY t.due_at, t.forwarding_id LIMIT `+w.bind(n), w.args)
	if err != nil {
		return nil, err
	}
	for i := range claimed {
		if err := t.postpone(&claimed[i], claimed[i].Attempts, until); err != nil {
			return nil, err
		}
		claimed[i].DueAt = time.UnixMicro(until.UnixMicro()).UTC() // as it is stored
	}
	return claimed, nil
}

func (t *tx) RetryMessage(m store.QueuedMessage, at time.Time) error {
	return t.postpone(&m, m.Attempts, at)
}

// postpone sets when a message is due next. The end of the lease identifies a claim,
// because a later claim has a later end.
func (t *tx) postpone(m *store.QueuedMessage, attempts int, due time.Time) error {
	return t.change(`UPDATE mail_queue SET attempts = $1, due_at = $2 WHERE forwarding_id = $3 AND due_at = $4`,
		attempts, micros{&due}, m.ForwardingID, micros{&m.DueAt})
}

func (t *tx) RemoveMessage(m store.QueuedMessage) error {
	return t.change(`DELETE FROM mail_queue WHERE forwarding_id = $1 AND due_at = $2`, m.ForwardingID, micros{&m.DueAt})
}

func (t *tx) SetForwardingLink(accountID, id string, hash []byte) error {
	return t.change(`UPDATE forwarding_rules SET link_hash = $1 WHERE account_id = $2 AND id = $3`, hash, accountID, id)
}

// messageLimits is the table of the token buckets.
const messageLimits = "message_limits"

func (r *reader) MessageLimit(bucket string) (fullAt time.Time, err error) {
	found, err := column[int64](r, `SELECT full_at FROM message_limits WHERE bucket = $1`, bucket)
	if len(found) == 0 || err != nil {
		return time.Time{}, err
	}
	return time.UnixMicro(found[0]).UTC(), nil
}

func (t *tx) SetMessageLimit(bucket string, fullAt time.Time) error {
	if _, err := t.exec(`INSERT INTO message_limits (bucket, full_at) VALUES ($1, $2)
		ON CONFLICT (bucket) DO UPDATE SET full_at = excluded.full_at`, bucket, micros{&fullAt}); err != nil {
		return fmt.Errorf("write a limit of messages: %w", err)
	}
	return nil
}

func (t *tx) ForgetMessageLimits(now time.Time) error {
	if _, err := t.exec(`DELETE FROM message_limits WHERE full_at <= $1`, micros{&now}); err != nil {
		return fmt.Errorf("forget limits of messages: %w", err)
	}
	return nil
}
