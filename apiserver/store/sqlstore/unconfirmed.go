package sqlstore

import (
	"fmt"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

var unconfirmedCreates = newTable(table[store.UnconfirmedCreate]{name: "unconfirmed_creates", key: "account_id, origin, object_type, object_id"})

// ofOrigin selects the unconfirmed creates of an origin.
func (r *reader) ofOrigin(accountID, origin string, now time.Time) *where {
	return r.inAccount(accountID).and(`t.origin = ?`, origin).and(`t.expires_at > ?`, now)
}

func (r *reader) UnconfirmedCreates(accountID, origin, objectType string, now time.Time) ([]store.UnconfirmedCreate, error) {
	return collect(r, unconfirmedCreates, r.ofOrigin(accountID, origin, now).equal(`t.object_type`, objectType), ` ORDER BY t.object_type, t.object_id`)
}

func (r *reader) UnconfirmedCreate(accountID, origin, objectType, objectID string, now time.Time) (store.UnconfirmedCreate, error) {
	return one(r, unconfirmedCreates, r.ofOrigin(accountID, origin, now).
		and(`t.object_type = ?`, objectType).
		and(`t.object_id = ?`, objectID))
}

func (r *reader) HasUnconfirmedCreates(accountID, origin string, now time.Time) (bool, error) {
	w := r.ofOrigin(accountID, origin, now)
	found, err := column[string](r, `SELECT t.object_id FROM unconfirmed_creates t`+w.text+` LIMIT 1`, w.args...)
	return len(found) > 0, err
}

func (t *tx) AddUnconfirmedCreates(c store.UnconfirmedCreate, objectIDs []string) error {
	t.lockAccount(c.AccountID)
	_, err := t.exec(`INSERT INTO unconfirmed_creates (account_id, origin, object_type, object_id, run, caller, lost, expires_at)
		SELECT $1, $2, $3, e.value, $4, $5, $6, $7 FROM (`+t.dialect.Elements("$8")+`) e WHERE true
		ON CONFLICT (account_id, origin, object_type, object_id) DO UPDATE
		SET run = excluded.run, caller = excluded.caller, lost = excluded.lost, expires_at = excluded.expires_at`,
		c.AccountID, c.Origin, c.ObjectType, c.Run, c.Caller, c.Lost, c.ExpiresAt, jsonArray(objectIDs))
	if err != nil {
		return fmt.Errorf("add unconfirmed creates: %w", err)
	}
	return nil
}

func (t *tx) ConfirmCreates(accountID, origin, objectType string, objectIDs []string) error {
	t.lockAccount(accountID)
	return t.execUnconfirmed(`DELETE FROM unconfirmed_creates WHERE account_id = $1 AND origin = $2 AND object_type = $3
		AND object_id IN (`+t.dialect.Elements("$4")+`)`, accountID, origin, objectType, jsonArray(objectIDs))
}

func (t *tx) ConfirmRun(accountID, origin, run string) error {
	t.lockAccount(accountID)
	return t.execUnconfirmed(`DELETE FROM unconfirmed_creates WHERE account_id = $1 AND origin = $2 AND run = $3`, accountID, origin, run)
}

func (t *tx) MarkCreatesLost(accountID, origin string) error {
	t.lockAccount(accountID)
	return t.execUnconfirmed(`UPDATE unconfirmed_creates SET lost = $1 WHERE account_id = $2 AND origin = $3 AND NOT lost`, true, accountID, origin)
}

func (t *tx) DeleteExpiredCreates(accountID string, before time.Time) error {
	t.lockAccount(accountID)
	return t.execUnconfirmed(`DELETE FROM unconfirmed_creates WHERE account_id = $1 AND expires_at < $2`, accountID, before)
}

func (t *tx) execUnconfirmed(statement string, args ...any) error {
	if _, err := t.exec(statement, args...); err != nil {
		return fmt.Errorf("change unconfirmed creates: %w", err)
	}
	return nil
}
