package sqlstore

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

var auditEntries = newTable(table[store.AuditEntry]{name: "audit_entries"})

// auditChunk is the number of entries, which may be long, that EachAuditEntry holds in memory.
const auditChunk = 50

func (r *reader) EachAuditEntry(f store.AuditFilter, fn func(store.AuditEntry) error) error {
	w := r.inAllAccounts().
		equal(`t.account_id`, f.AccountID).
		equal(`t.operation`, f.Operation).
		equal(`t.request_id`, f.RequestID).
		changed(f.Object)
	if !f.Since.IsZero() {
		w.and(`t.created_at >= ?`, f.Since)
	}
	if !f.Until.IsZero() {
		w.and(`t.created_at < ?`, f.Until)
	}
	if f.Subject != "" {
		w.and(`(t.subject_id = ? OR t.subject_name = ?)`, f.Subject, f.Subject)
	}
	if f.Limit > 0 {
		newest := w.clone()
		leftOut, err := collect(r, auditEntries, newest, ` ORDER BY t.created_at DESC, t.id DESC LIMIT 1 OFFSET `+newest.bind(f.Limit))
		if err != nil {
			return err
		}
		for _, e := range leftOut {
			w.after(e.CreatedAt, e.ID)
		}
	}
	return each(r, auditEntries, w, auditChunk, fn)
}

// changed selects the audit entries with a change of the object with an id or a name, or all
// entries if object is empty. A JSON value can't contain the searched member: its quotes would
// be escaped.
func (w *where) changed(object string) *where {
	switch {
	case object == "":
		return w
	case len(object) > maxSearch:
		return w.and(`1 = 0`)
	}
	encoded, _ := json.Marshal(object) // a string can always be encoded
	// SQLite's LIKE ignores the case of ASCII letters, and so does LOWER of both engines.
	object = lowerASCII(likeEscaper.Replace(string(encoded)))
	member := func(name string) string { return `%"` + name + `":` + object + `%` }
	return w.and(`(` + w.like(`LOWER(t.changes)`, member("id")) + ` OR ` + w.like(`LOWER(t.changes)`, member("name")) + `)`)
}

func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, s)
}

func (t *tx) AddAuditEntry(e *store.AuditEntry) error {
	t.lockAccount(e.AccountID)
	columns := auditEntries.names[1:] // the database assigns the id
	return t.exec(insertion(auditEntries.name, columns), auditEntries.written(e)[1:]...)
}

func (t *tx) DeleteAuditEntries(accountID string, before time.Time, n int) (int, error) {
	w := t.inAllAccounts().equal(`t.account_id`, accountID).and(`t.created_at < ?`, before).
		and(`t.id < (SELECT MAX(id) FROM audit_entries)`) // SQLite would assign the highest id again
	end := inOrder + w.limit(n)
	deleted, err := t.affected(`DELETE FROM audit_entries WHERE id IN (SELECT t.id FROM audit_entries t`+w.text+end+`)`, w.args...)
	return int(deleted), err
}
