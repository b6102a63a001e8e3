package sqlstore

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/domainname"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/text"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// where builds the conditions of a query, in which t is the name of the table.
type where struct {
	r         *reader
	accountID string
	text      string
	args      []any
	// nothingUnpaid means that HideUnpaid hides nothing in the account.
	nothingUnpaid bool
	// countedIn selects the domains that contain exactly the selected mailboxes: the sum of their
	// mailbox_counts is the total. It is nil if rows must be counted.
	countedIn *where
}

// inAccount starts the conditions of a query in an account.
func (r *reader) inAccount(accountID string) *where {
	r.lockAccount(accountID)
	w := r.inAllAccounts().and(`t.account_id = ?`, accountID)
	w.accountID = accountID
	return w
}

// inAllAccounts starts the conditions of a query in all accounts.
func (r *reader) inAllAccounts() *where {
	return &where{r: r}
}

func (w *where) bind(value any) string {
	w.args = append(w.args, stored(value))
	return "$" + strconv.Itoa(len(w.args))
}

// and adds a condition with a question mark for each value.
func (w *where) and(condition string, values ...any) *where {
	if w.text == "" {
		w.text = " WHERE "
	} else {
		w.text += " AND "
	}
	if slices.ContainsFunc(values, unstorable) {
		w.text += `1 = 0`
		return w
	}
	for _, v := range values {
		before, after, _ := strings.Cut(condition, "?")
		w.text += before + w.bind(v)
		condition = after
	}
	w.text += condition
	return w
}

// unstorable reports whether a value, which some engines refuse, can't equal any stored value.
func unstorable(value any) bool {
	s, ok := value.(string)
	return ok && (strings.ContainsRune(s, 0) || !utf8.ValidString(s))
}

// clone returns a copy. Adding conditions to it leaves w unchanged.
func (w *where) clone() *where {
	c := *w
	c.args = slices.Clip(c.args)
	return &c
}

// after selects the objects after the object with these values in the order of a list.
func (w *where) after(createdAt, id any) *where {
	return w.and(`(t.created_at, t.id) > (?, ?)`, createdAt, id)
}

// equal selects the rows with a value in a column, or all rows if the value is empty.
func (w *where) equal(column, value string) *where {
	if value == "" {
		return w
	}
	return w.and(column+` = ?`, value)
}

func (w *where) in(column string, values []string) string {
	return column + ` IN (` + w.r.dialect.elements(w.bind(jsonArray(values))) + `)`
}

// maxSearch is longer than any searched text. Engines refuse a much longer pattern.
const maxSearch = 10_000

// search selects the rows that contain a term in a column of searchText, or all rows if the term is empty.
func (w *where) search(column, term string) *where {
	switch {
	case term == "":
		return w
	case len(term) > maxSearch, strings.ContainsRune(term, 0): // no engine takes NUL in a pattern
		return w.and(`1 = 0`)
	}
	return w.and(w.like(column, "%"+likeEscaper.Replace(searchText(term))+"%"))
}

// like returns the condition that a column matches a pattern. For its CAST, see limit.
func (w *where) like(column, pattern string) string {
	return column + ` LIKE CAST(` + w.bind(pattern) + ` AS TEXT) ESCAPE '\'`
}

// limit returns a LIMIT. SQLite prepares a statement again for each new value of a parameter that its
// planner reads, and the planner does not read the argument of a CAST.
func (w *where) limit(n int) string { return ` LIMIT CAST(` + w.bind(n) + ` AS BIGINT)` }

var likeEscaper = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// searchText folds a text or a term for comparisons: engines fold case differently.
func searchText(s string) string { return text.Fold(s) }

// namesText returns the searchText of an address or domain name in ASCII and Unicode.
func namesText(name string) string {
	if shown := unicodeName(name); shown != name {
		name += "\n" + shown
	}
	return searchText(name)
}

// unicodeName returns the Unicode form of a canonical address or domain name.
func unicodeName(name string) string {
	at := strings.LastIndexByte(name, '@')
	return name[:at+1] + domainname.Unicode(name[at+1:])
}

// state selects the rows with a status at a time, or all rows if the status is empty.
func (w *where) state(status string, now time.Time) *where {
	if status == "" {
		return w
	}
	return w.and(`CASE WHEN t.state_ready_at > ? THEN t.state_until ELSE t.state_status END = ?`, now, status)
}

// withoutUnpaid excludes the domains that HideUnpaid hides.
func (w *where) withoutUnpaid() *where {
	if w.r.unpaidBefore.IsZero() {
		return w
	}
	return w.and(`NOT (t.`+unpaid+` AND t.created_at <= ?)`, w.r.unpaidBefore)
}

// outsideUnpaid excludes objects in domains that HideUnpaid hides. column holds a domain's id.
func (w *where) outsideUnpaid(column string) *where {
	if w.r.unpaidBefore.IsZero() || w.nothingUnpaid {
		return w
	}
	return w.and(column+` NOT IN (SELECT id FROM domains WHERE `+unpaid+` AND account_id = ? AND created_at <= ?)`,
		w.accountID, w.r.unpaidBefore)
}

// unpaid is the condition of the index of domains that wait for a payment.
const unpaid = `state_status = '` + vocab.DomainPendingPayment + `'`

// withinDomains selects the objects in the workspaces and domains of within. column holds a domain's id.
func (w *where) withinDomains(column string, within store.Within) *where {
	if !within.Restricted {
		return w
	}
	return w.and(`(` + w.inDomains(column, within) + `)`)
}

func (w *where) inDomains(column string, within store.Within) string {
	return w.in(column, within.Domains) +
		` OR ` + column + ` IN (SELECT id FROM domains WHERE account_id = ` + w.bind(w.accountID) +
		` AND ` + w.in(`workspace_id`, within.Workspaces) + `)`
}

func (w *where) scope(s store.Scope) *where {
	return w.and(`t.scope_type = ? AND t.scope_id = ?`, s.Type, s.ID)
}

// scoped selects by all fields of a store.ScopedFilter except Search.
func (w *where) scoped(f store.ScopedFilter) *where {
	if f.DomainID != "" {
		w.scope(store.Scope{Type: vocab.ScopeDomain, ID: f.DomainID})
	}
	if f.WorkspaceID != "" {
		w.scope(store.Scope{Type: vocab.ScopeWorkspace, ID: f.WorkspaceID})
	}
	w.equal(`t.scope_type`, f.ScopeType)
	if !f.Within.Restricted {
		return w
	}
	return w.and(`(t.scope_type = '` + vocab.ScopeDomain + `' AND (` + w.inDomains(`t.scope_id`, f.Within) + `)` +
		` OR t.scope_type = '` + vocab.ScopeWorkspace + `' AND ` + w.in(`t.scope_id`, f.Within.Workspaces) + `)`)
}
