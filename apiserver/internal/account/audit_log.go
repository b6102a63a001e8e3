package account

import (
	"slices"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

var _ = read(api.ListAuditLog, func(c *Call, r store.Reader, in *api.ListAuditLogRequest) (*[]api.AuditEntry, error) {
	f := store.AuditFilter{
		AccountID: c.Caller.AccountID, Operation: in.Operation, RequestID: in.RequestID, Subject: in.Subject, Object: in.Object, Limit: in.Limit,
	}
	var err error
	if f.Since, err = timeInQuery("since", in.Since); err != nil {
		return nil, err
	}
	if f.Until, err = timeInQuery("until", in.Until); err != nil {
		return nil, err
	}
	entries := []api.AuditEntry{}
	err = r.EachAuditEntry(f, func(e store.AuditEntry) error {
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
})

// timeInQuery returns the time of a query parameter, or the zero time without one.
func timeInQuery(name, value string) (t time.Time, err error) {
	if value == "" {
		return t, nil
	}
	if t, err = api.ParseTime(value); err != nil {
		return t, api.Unprocessable(api.Invalid("%s", err).At("query", name))
	}
	return t, nil
}

// AuditEntry returns an entry in the form of the API.
func AuditEntry(e store.AuditEntry) api.AuditEntry {
	change := func(c store.AuditChange) api.AuditChange {
		return api.AuditChange{Action: c.Action, Type: c.Type, ID: c.ID, Name: optional(c.Name), Fields: append([]string{}, c.Fields...)} // never null
	}
	return api.AuditEntry{
		ID: e.ID, CreatedAt: timestamp(e.CreatedAt), Operation: e.Operation,
		Subject:   api.AuditSubject{Type: e.Subject.Type, ID: optional(e.Subject.ID), Name: optional(e.Subject.Name)},
		RequestID: optional(e.RequestID), RemoteAddress: optional(e.RemoteAddress), Changes: objects(e.Changes, change),
	}
}
