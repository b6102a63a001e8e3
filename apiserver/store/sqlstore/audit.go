package sqlstore

import (
	"encoding/json"
	"fmt"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

var auditEntries = newTable(table[store.AuditEntry]{
	name: "audit_entries",
	columns: []string{"id", "account_id", "operation", "subject_type", "subject_id", "subject_name",
		"request_id", "remote_address", "changes", "created_at"},
	fields: func(e *store.AuditEntry) []any {
		return []any{&e.ID, &e.AccountID, &e.Operation, &e.Subject.Type, &e.Subject.ID, &e.Subject.Name,
			&e.RequestID, &e.RemoteAddress, asJSON[[]store.AuditChange]{&e.Changes}, micros{&e.CreatedAt}}
	},
})

// auditChunk is how many entries EachAuditEntry holds in memory. One may list
// thousands of changes.
const auditChunk = 50

func (r *reader) EachAuditEntry(f store.AuditFilter, fn func(store.AuditEntry) error) error {
	last, err := r.lastLeftOut(f)
	if err != nil {
		return err
	}
	for {
		w := r.auditWhere(f)
		if last.ID != 0 {
			w.and(`(t.created_at, t.id) > (?, ?)`, micros{&last.CreatedAt}, last.ID)
		}
		chunk, err := first(r, auditEntries, w, store.Slice{Limit: auditChunk})
		if err != nil {
			return err
		}
		for _, e := range chunk {
			if err := fn(e); err != nil {
				return err
			}
		}
		if len(chunk) < auditChunk {
			return nil
		}
		last = chunk[len(chunk)-1]
	}
}

// lastLeftOut returns the newest entry that the filter's limit leaves out, or none.
func (r *reader) lastLeftOut(f store.AuditFilter) (none store.AuditEntry, err error) {
	if f.Limit <= 0 {
		return none, nil
	}
	w := r.auditWhere(f)
	found, err := collect(r, auditEntries, auditEntries.selection+` FROM `+auditEntries.name+` t`+w.text.String()+
		` ORDER BY t.created_at DESC, t.id DESC LIMIT 1 OFFSET `+w.bind(f.Limit), w.args)
	if len(found) == 0 || err != nil {
		return none, err
	}
	return found[0], nil
}

func (r *reader) auditWhere(f store.AuditFilter) *where {
	w := r.inAllAccounts().
		equal(`t.account_id`, f.AccountID).
		equal(`t.operation`, f.Operation).
		equal(`t.request_id`, f.RequestID)
	if !f.Since.IsZero() {
		w.and(`t.created_at >= ?`, micros{&f.Since})
	}
	if !f.Until.IsZero() {
		w.and(`t.created_at < ?`, micros{&f.Until})
	}
	if f.Subject != "" {
		w.and(`(t.subject_id = ? OR t.subject_name = ?)`, f.Subject, f.Subject)
	}
	return w.changed(f.Object)
}

// changed selects the audit entries with a change of an object, by its id or its
// name, unless that is empty. No JSON value contains the text that is searched,
// because its quotes would be escaped.
func (w *where) changed(object string) *where {
	switch {
	case object == "":
		return w
	case len(object) > maxSearch:
		return w.and(`1 = 0`)
	}
	encoded, err := json.Marshal(object)
	if err != nil {
		panic(err) // strings can always be encoded
	}
	member := func(name string) string { return `%"` + name + `":` + likeEscaper.Replace(string(encoded)) + `%` }
	return w.and(`(t.changes LIKE ? ESCAPE '\' OR t.changes LIKE ? ESCAPE '\')`, member("id"), member("name"))
}

func (t *tx) AddAuditEntry(e *store.AuditEntry) error {
	at, err := t.creationTime(auditEntries.name, e.AccountID, e.CreatedAt)
	if err != nil {
		return err
	}
	e.CreatedAt = at
	ids, err := column[int64](&t.reader, `INSERT INTO audit_entries
		(account_id, operation, subject_type, subject_id, subject_name, request_id, remote_address, changes, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id`, auditEntries.fields(e)[1:]...)
	if err != nil {
		return fmt.Errorf("write the audit log: %w", err)
	}
	e.ID = ids[0]
	return nil
}
