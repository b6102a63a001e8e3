package modeltest

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// listing is a list operation with its filters.
type listing struct {
	path, capability string
	narrowable       bool
	query            url.Values
	faults           []problem
	// items are all matching objects in order, as the caller sees them.
	items func(who *caller) []any
}

// list returns a list of the objects that match, in order.
func list[T any](m *machine, path, capability string, query url.Values, all *[]*T, object func(*T) obj, match func(*listing, reach, *T) bool) *listing {
	l := &listing{path: path, capability: capability, narrowable: slices.Contains(narrowable, capability), query: query}
	l.items = func(who *caller) []any {
		r := m.reach(who, capability)
		return render(*all, func(v *T) bool { return match(l, r, v) }, object)
	}
	return l
}

// filter draws whether to use a filter, and adds it to the query.
func (l *listing) filter(m *machine, name string, values ...string) {
	if m.rarely(2, "filter by "+name) {
		l.query.Set(name, draw(m, name, values...))
	}
}

// filterID is filter for a UUID.
func (l *listing) filterID(m *machine, name string, ids []string) {
	if !m.rarely(3, "filter by "+name) {
		return
	}
	id, wrong := m.anID(name, ids)
	l.query.Set(name, id)
	if wrong {
		l.faults = append(l.faults, problem{loc: "query." + name, typ: "uuid_parsing"})
	}
}

// by reports whether a value matches a filter, if there is one. Ids and names are
// compared ignoring case.
func (l *listing) by(name, value string) bool {
	filter := l.query.Get(name)
	return filter == "" || strings.EqualFold(filter, value)
}

// inDomain reports whether an object of a domain matches the filter for a domain.
func (l *listing) inDomain(m *machine, r reach, d *domain) bool {
	ref := l.query.Get("domain")
	return ref == "" || d != nil && m.seenDomain(r, ref) == d
}

// do requests one page of the list.
func (l *listing) do(m *machine, who *caller) {
	page, size := 1, 25
	if m.rarely(2, "a page") {
		size = draw(m, "page_size", 2, 1, 3, 25, 1000)
		page = draw(m, "page", 1, 2, 3, 1000)
		l.query.Set("page", strconv.Itoa(page))
		l.query.Set("page_size", strconv.Itoa(size))
	}
	m.do(who, l.page(page, size))
}

func (l *listing) page(page, size int) operation {
	return operation{
		method: "GET", path: l.path, query: l.query, capability: l.capability, narrowable: l.narrowable, reads: true, faults: l.faults,
		then: func(who *caller) want {
			all := l.items(who)
			from := min((page-1)*size, len(all))
			items := append([]any{}, all[from:min(from+size, len(all))]...)
			w := ok(obj{"items": items, "page": page, "page_size": size, "total": len(all)})
			w.check = func(a *response) []string {
				return append(differences("body", w.body, a.json), disorder(a)...)
			}
			return w
		},
	}
}

// disorder returns the items that are not in the order of creation time and id.
func disorder(a *response) (found []string) {
	body, _ := a.json.(obj)
	items, _ := body["items"].([]any)
	for i := 1; i < len(items); i++ {
		before, after := items[i-1].(obj), items[i].(obj)
		at, ok := before["created_at"].(string)
		if !ok {
			continue
		}
		if cmp.Or(cmp.Compare(at, after["created_at"].(string)), cmp.Compare(before["id"].(string), after["id"].(string))) >= 0 {
			found = append(found, fmt.Sprintf("the items %d and %d are not in the order of creation time and id", i-1, i))
		}
	}
	return found
}

// readPages reads all pages of a list, including the empty one after the last.
func (m *machine) readPages(who *caller, l *listing) {
	const size = 9
	seen := len(l.items(who))
	for page := 1; (page-2)*size < seen; page++ {
		l.query = url.Values{"page": {strconv.Itoa(page)}, "page_size": {strconv.Itoa(size)}}
		m.do(who, l.page(page, size))
	}
}

// lists are all lists without a filter.
func (m *machine) lists() []*listing {
	return []*listing{
		m.listWorkspaces(), m.listDomains(url.Values{}), m.listMailboxes(url.Values{}), m.listRecords(url.Values{}), m.listRules(url.Values{}),
		m.listPasswords(url.Values{}), m.listServiceAccounts(), m.listIPs(url.Values{}), m.listOptions(),
	}
}

// everyObject returns reads by id of all objects, or of some if there are many.
func (m *machine) everyObject() (all []operation) {
	all = append(all, reads(m.workspaces, func(w *workspace) operation { return m.getWorkspace(w.id) })...)
	all = append(all, reads(m.domains, func(d *domain) operation { return m.getDomain(d.id) })...)
	all = append(all, reads(m.mailboxes, func(b *mailbox) operation { return m.getMailbox(b.id) })...)
	all = append(all, reads(m.records, func(r *record) operation { return m.getRecord(strconv.FormatInt(r.id, 10)) })...)
	all = append(all, reads(m.rules, func(r *rule) operation { return m.getRule(r.id) })...)
	all = append(all, reads(m.passwords, func(p *password) operation { return m.getPassword(p.id) })...)
	all = append(all, reads(m.serviceAccounts, func(a *serviceAccount) operation { return m.getServiceAccount(a.id) })...)
	all = append(all, reads(m.ips, func(d *dedicatedIP) operation { return m.getIP(d.id) })...)
	return append(all, m.getAccount(), m.listGrants(url.Values{"include_revoked": {"true"}}))
}

func reads[T any](all []*T, read func(*T) operation) (out []operation) {
	const enough = 4
	for i := 0; i < len(all); i += 1 + len(all)/enough {
		out = append(out, read(all[i]))
	}
	return out
}

// render returns the responses of the matching elements.
func render[T any](all []*T, match func(*T) bool, object func(*T) obj) []any {
	var items []any
	for _, v := range all {
		if match(v) {
			items = append(items, object(v))
		}
	}
	return items
}
