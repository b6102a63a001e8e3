package console

import (
	"slices"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/audit"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/identity"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

type auditPage struct {
	Entries    []api.AuditEntry
	Operations []string
	// Older is the query of the next page, or "" on the last page.
	Older string
}

// auditEntriesPerPage limits a page of the audit log. The page names only the first changes of an entry.
const auditEntriesPerPage = 50

func listAuditLog(v *visit) (view, error) {
	entries, err := call(v, api.ListAuditLog, &api.ListAuditLogRequest{
		Operation: v.query("operation"), Subject: v.query("subject"), Object: v.query("object"), Until: v.query("until"),
		Limit: auditEntriesPerPage, MaxChanges: changesRead,
	})
	if err != nil {
		return view{}, err
	}
	p := auditPage{Entries: *entries, Operations: audit.Operations()}
	slices.Sort(p.Operations)
	nameGrants(v, p.Entries)
	if len(p.Entries) == auditEntriesPerPage {
		q := v.URL.Query()
		q.Set("until", p.Entries[len(p.Entries)-1].CreatedAt)
		p.Older = "?" + q.Encode()
	}
	return view{Template: "audit-log.html", Title: "Audit log", Data: p}, nil
}

// changesRead limits the changes that are read of an entry.
const changesRead = 100

// subject is who holds a grant, has made a change or is signed in.
type subject struct{ Type, ID, Name string }

// IsUUID reports whether the id is a UUID, of which narrow columns show the start.
func (s subject) IsUUID() bool { return api.IsID(s.ID) }

// authorOf returns the author of a change.
func authorOf(s api.AuditSubject) subject { return subject{s.Type, api.Value(s.ID), api.Value(s.Name)} }

// senderOf returns the sender of a request.
func senderOf(s store.AuditSubject) subject { return subject{s.Type, s.ID, s.Name} }

// visitorOf returns the subject of a session.
func visitorOf(s *identity.Session) subject {
	if s.ServiceAccountID != "" {
		return subject{vocab.SubjectServiceAccount, s.ServiceAccountID, s.Name}
	}
	return subject{vocab.SubjectUser, s.UserID, s.Name}
}
