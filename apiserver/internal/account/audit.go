package account

import (
	"slices"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// auditOperations binds the operation on the audit log to its rule.
var auditOperations = []Operation{
	read(api.ListAuditLog, listAuditLog),
}

func listAuditLog(c *Call, r store.Reader, in *api.ListAuditLogRequest) (*[]api.AuditEntry, error) {
	f := store.AuditFilter{
		AccountID: c.Caller.AccountID, Operation: in.Operation, RequestID: in.RequestID, Subject: in.Subject, Object: in.Object, Limit: in.Limit,
	}
	f.Since, _ = api.ParseTime(in.Since) // both are valid or empty
	f.Until, _ = api.ParseTime(in.Until)
	entries := []api.AuditEntry{}
	err := r.EachAuditEntry(f, func(e store.AuditEntry) error {
		more := 0
		if in.MaxChanges > 0 {
			more = max(0, len(e.Changes)-in.MaxChanges)
		}
		e.Changes = e.Changes[:len(e.Changes)-more]
		entry := AuditEntry(e)
		entry.MoreChanges = more
		entries = append(entries, entry)
		return nil
	})
	slices.Reverse(entries)
	return &entries, err
}

// AuditEntry converts a stored entry to an API object.
func AuditEntry(e store.AuditEntry) api.AuditEntry {
	change := func(c store.AuditChange) api.AuditChange {
		return api.AuditChange{Action: c.Action, Type: c.Type, ID: c.ID, Name: optional(c.Name), Fields: append([]string{}, c.Fields...)} // never null
	}
	return api.AuditEntry{
		ID: e.ID, CreatedAt: timestamp(e.CreatedAt), Operation: e.Operation,
		Subject:        auditSubject(e.Subject),
		SubjectDetails: e.SubjectDetails, RequestID: optional(e.RequestID), RemoteAddress: optional(e.RemoteAddress), Changes: objects(e.Changes, change),
	}
}

func auditSubject(s store.AuditSubject) api.AuditSubject {
	return api.AuditSubject{Type: s.Type, ID: optional(s.ID), Name: optional(s.Name)}
}
