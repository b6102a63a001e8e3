package console

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/audit"
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

func subjectName(s api.AuditSubject) string {
	return cmp.Or(api.Value(s.Name), api.Value(s.ID), words(s.Type))
}

// subjectKind returns the kind of a named subject, or "" for the usual kinds: a service account or a person.
func subjectKind(s api.AuditSubject) string {
	if s.Type == vocab.SubjectServiceAccount || s.Type == vocab.SubjectUser || api.Value(s.Name) == "" && api.Value(s.ID) == "" {
		return ""
	}
	return strings.ReplaceAll(s.Type, "_", " ")
}
