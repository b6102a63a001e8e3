package sqlstore

import (
	"strconv"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// where collects the conditions of a query. The table is t in all of them.
type where struct {
	dialect Dialect
	text    strings.Builder
	args    []any
}

// where starts the conditions of a query in an account.
func (r *reader) where(accountID string) *where {
	return r.anywhere().and(`t.account_id = ?`, accountID)
}

// anywhere starts the conditions of a query in all accounts.
func (r *reader) anywhere() *where { return &where{dialect: r.dialect} }

// bind adds a value and returns its placeholder.
func (w *where) bind(value any) string {
	w.args = append(w.args, value)
	return "$" + strconv.Itoa(len(w.args))
}

// and adds a condition whose question marks stand for the values.
func (w *where) and(condition string, values ...any) *where {
	if w.text.Len() == 0 {
		w.text.WriteString(" WHERE ")
	} else {
		w.text.WriteString(" AND ")
	}
	for _, v := range values {
		before, after, _ := strings.Cut(condition, "?")
		w.text.WriteString(before)
		w.text.WriteString(w.bind(v))
		condition = after
	}
	w.text.WriteString(condition)
	return w
}

// equal selects by a column, unless the value is empty.
func (w *where) equal(column, value string) *where {
	if value == "" {
		return w
	}
	return w.and(column+` = ?`, value)
}

// in returns the condition that a column has one of the values.
func (w *where) in(column string, values []string) string {
	return column + ` IN (` + w.dialect.Elements(w.bind(jsonStrings(values))) + `)`
}

// maxSearch is longer than any searched text. Engines limit the length of a
// pattern and would answer a longer one with an error.
const maxSearch = 10_000

// search selects by a part of a column that holds lower-case text, unless the
// term is empty.
func (w *where) search(column, term string) *where {
	switch {
	case term == "":
		return w
	case len(term) > maxSearch:
		return w.and(`1 = 0`)
	}
	return w.and(column+` LIKE ? ESCAPE '\'`, "%"+likeEscaper.Replace(searchText(term))+"%")
}

var likeEscaper = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// searchText is the form in which texts and terms are compared. Go makes it,
// because engines differ in what they fold, and SQLite folds only ASCII.
func searchText(s string) string { return strings.ToLower(s) }

// state selects by the status of a store.Provisioning at a time, unless the
// status is empty.
func (w *where) state(status string, now time.Time) *where {
	if status == "" {
		return w
	}
	return w.and(`CASE WHEN t.ready_at > ? THEN t.status_until ELSE t.status END = ?`, micros{&now}, status)
}

// withinDomains selects what lies in the workspaces and domains by the column
// that holds a domain's id.
func (w *where) withinDomains(column string, within store.Within) *where {
	if !within.Restricted {
		return w
	}
	return w.and(`(` + w.inDomains(column, within) + `)`)
}

func (w *where) inDomains(column string, within store.Within) string {
	return w.in(column, within.Domains) +
		` OR ` + column + ` IN (SELECT id FROM domains WHERE ` + w.in(`workspace_id`, within.Workspaces) + `)`
}

// scoped selects by a store.ScopedFilter.
func (w *where) scoped(f store.ScopedFilter) *where {
	if f.DomainID != "" {
		w.and(`t.scope_type = ? AND t.scope_id = ?`, store.ScopeDomain, f.DomainID)
	}
	if f.WorkspaceID != "" {
		w.and(`t.scope_type = ? AND t.scope_id = ?`, store.ScopeWorkspace, f.WorkspaceID)
	}
	w.equal(`t.scope_type`, f.ScopeType).search(`t.search_text`, f.Search)
	if !f.Within.Restricted {
		return w
	}
	return w.and(`(t.scope_type = '` + store.ScopeDomain + `' AND (` + w.inDomains(`t.scope_id`, f.Within) + `)` +
		` OR t.scope_type = '` + store.ScopeWorkspace + `' AND ` + w.in(`t.scope_id`, f.Within.Workspaces) + `)`)
}
