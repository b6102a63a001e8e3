package sqlstore

import (
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

var mailQueue = newTable(table[store.QueuedMessage]{name: "mail_queue", planned: map[string]string{"due_at": ""}})

func (r *reader) MessagesDue() (store.MessagesDue, error) {
	return only(scan(r, `SELECT t.due_at, (SELECT MAX(due_at) FROM mail_queue) FROM mail_queue t ORDER BY t.due_at LIMIT 1`, nil,
		func(d *store.MessagesDue) []any { return []any{stored(&d.First), stored(&d.Last)} }))
}

func (r *reader) QueuedMessages() (int, error) {
	return only(column[int](r, `SELECT COUNT(*) FROM mail_queue`))
}

func (t *tx) QueueMessage(m store.QueuedMessage) error {
	return t.exec(`INSERT INTO mail_queue (forwarding_id, account_id, request_id, attempts, due_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (forwarding_id) DO UPDATE SET request_id = excluded.request_id, attempts = excluded.attempts, due_at = excluded.due_at`,
		m.ForwardingID, m.AccountID, m.RequestID, m.Attempts, m.DueAt)
}

func (t *tx) ClaimMessage(after, now, until time.Time) (store.QueuedMessage, error) {
	w := t.inAllAccounts().and(`t.due_at > ? AND t.due_at <= ?`, after, now)
	first := ` ORDER BY t.due_at, t.forwarding_id LIMIT 1` + t.dialect.SkipLocked
	m, err := only(query(&t.reader, mailQueue, mailQueue.name+` t`+w.text+first, w.args))
	if err == nil {
		err = t.RetryMessage(m, until)
	}
	m.DueAt = time.UnixMicro(until.UnixMicro()).UTC() // as it is stored
	return m, err
}

// RetryMessage identifies a claim by the end of its lease.
func (t *tx) RetryMessage(m store.QueuedMessage, at time.Time) error {
	return t.change(`UPDATE mail_queue SET attempts = $1, due_at = $2 WHERE forwarding_id = $3 AND due_at = $4`,
		m.Attempts, at, m.ForwardingID, m.DueAt)
}

func (t *tx) RemoveMessage(m store.QueuedMessage) error {
	return t.change(`DELETE FROM mail_queue WHERE forwarding_id = $1 AND due_at = $2`, m.ForwardingID, m.DueAt)
}

func (t *tx) SetForwardingLink(accountID, id string, hash []byte) error {
	return t.change(`UPDATE forwarding_rules SET link_hash = $1 WHERE account_id = $2 AND id = $3`, hash, accountID, id)
}
