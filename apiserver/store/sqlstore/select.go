package sqlstore

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// criterion is a condition of a query in the terms of blocks: an object has a matching
// facet of a kind, or its text contains one of some terms.
type criterion struct {
	kind    facetKind
	matcher matcher
	terms   []string
}

// matcher returns a function that reports whether a facet's value matches. It may read
// from the database, so that only a list with blocks pays for that.
type matcher func() (func(value string) bool, error)

func oneOf(values ...string) matcher {
	return func() (func(string) bool, error) {
		return func(v string) bool { return slices.Contains(values, v) }, nil
	}
}

// noneOf matches no facet of some domains, or of their scopes.
func noneOf(domains []string) matcher {
	return func() (func(string) bool, error) {
		return func(v string) bool { return !slices.Contains(domains, v[strings.IndexByte(v, '\n')+1:]) }, nil
	}
}

func scopeFacet(s store.Scope) facet { return facet{facetScope, s.Type + "\n" + s.ID} }

// scopeTypeIs matches the scopes of a type.
func scopeTypeIs(scopeType string) matcher {
	return func() (func(string) bool, error) {
		return func(v string) bool { return strings.HasPrefix(v, scopeType+"\n") }, nil
	}
}

// scopesWithin matches the scopes of some domains and workspaces, and of the domains of
// these workspaces.
func (r *reader) scopesWithin(accountID string, within store.Within) matcher {
	return func() (func(string) bool, error) {
		domainWithin, err := r.domainsWithin(accountID, within)()
		return func(v string) bool {
			scopeType, id, _ := strings.Cut(v, "\n")
			return scopeType == vocab.ScopeDomain && domainWithin(id) || scopeType == vocab.ScopeWorkspace && slices.Contains(within.Workspaces, id)
		}, err
	}
}

// domainsOf matches the domains of a workspace.
func (r *reader) domainsOf(accountID, workspaceID string) matcher {
	return r.domainsWithin(accountID, store.Within{Workspaces: []string{workspaceID}})
}

// domainsWithin matches some domains and those of some workspaces.
func (r *reader) domainsWithin(accountID string, within store.Within) matcher {
	return func() (func(string) bool, error) {
		w := r.inAccount(accountID)
		ids, err := column[string](r, `SELECT t.id FROM domains t`+w.and(w.in(`t.workspace_id`, within.Workspaces)).text, w.args...)
		known := make(map[string]bool)
		for _, id := range append(ids, within.Domains...) {
			known[id] = true
		}
		return func(v string) bool { return known[v] }, err
	}
}

// statusFacet has all fields of a status, because the time of a request decides which of
// them holds.
func statusFacet(p store.Provisioning) facet {
	var readyAt int64
	if !p.ReadyAt.IsZero() {
		readyAt = p.ReadyAt.UnixMicro()
	}
	return facet{facetStatus, strings.Join([]string{strconv.FormatInt(readyAt, 10), p.Until, p.Status}, "\n")}
}

// statusIs matches the facets of a status at a time.
func statusIs(status string, now time.Time) matcher {
	return func() (func(string) bool, error) {
		return func(v string) bool {
			parts := strings.SplitN(v, "\n", 3)
			readyAt, _ := strconv.ParseInt(parts[0], 10, 64)
			if readyAt > now.UnixMicro() {
				return parts[1] == status
			}
			return parts[2] == status
		}, nil
	}
}

// resolveUnpaid reads which domains of the account HideUnpaid hides. There are mostly
// none, and then a query of objects in domains has no condition for them.
func (w *where) resolveUnpaid() (err error) {
	if w.r.unpaidBefore.IsZero() || w.accountID == "" {
		return nil
	}
	hidden := w.r.inAccount(w.accountID).and(`t.`+unpaid).and(`t.created_at <= ?`, w.r.unpaidBefore)
	w.unpaid, err = column[string](w.r, `SELECT t.id FROM domains t`+hidden.text, hidden.args...)
	w.resolved = err == nil
	return err
}

// pageOfBlocks is page for a list with blocks.
func pageOfBlocks[T any](r *reader, tbl *table[T], w *where, s store.Slice) ([]T, int, error) {
	l := list{tbl.name, w.accountID}
	last, total, err := r.lastBlock(l)
	if errors.Is(err, store.ErrNotFound) {
		return pageOfRows(r, tbl, w, s)
	}
	if err != nil {
		return nil, 0, err
	}
	tail := w.clone().and(`t.created_at > ?`, last.Last)
	var items []T
	if len(w.criteria) == 0 && !w.partial {
		items, err = pageOfAll(r, tbl, l, w, total, s)
	} else {
		items, total, err = pageWithinBlocks(r, tbl, l, w, s)
	}
	if err != nil {
		return nil, 0, err
	}
	if len(items) < s.Limit {
		s.Offset, s.Limit = max(s.Offset-total, 0), s.Limit-len(items)
		more, err := first(r, tbl, tail, s)
		if err != nil {
			return nil, 0, err
		}
		items = append(items, more...)
	}
	inTail, err := count(r, tbl, tail)
	return items, total + inTail, err
}

// lastBlock returns the last block of a list, and how many rows are in all blocks.
func (r *reader) lastBlock(l list) (block, int, error) {
	type last struct {
		block
		total int
	}
	found, err := only(scan(r, `SELECT b.id, b.first_at, b.last_at, b.row_count, b.size, n.row_count FROM list_totals n
		JOIN list_blocks b ON b.list = n.list AND b.account_id = n.account_id
		WHERE n.list = $1 AND n.account_id = $2 ORDER BY b.first_at DESC LIMIT 1`, []any{l.table, l.accountID},
		func(v *last) []any { return append(v.fields(), &v.total) }))
	return found.block, found.total, err
}

// pageOfAll returns the part of a page that is in blocks, if w selects all rows of the
// list, of which a number is in blocks.
func pageOfAll[T any](r *reader, tbl *table[T], l list, w *where, inBlocks int, s store.Slice) ([]T, error) {
	if s.Offset >= inBlocks {
		return nil, nil
	}
	limit := store.Slice{Limit: min(s.Limit, inBlocks-s.Offset)}
	if s.Offset == 0 {
		return first(r, tbl, w, limit)
	}
	b, skip, err := r.blockOfRow(l, inBlocks, s.Offset)
	if err != nil {
		return nil, err
	}
	rows, err := r.rowsOf(b)
	if err != nil {
		return nil, err
	}
	times, err := r.timesOf(b)
	if err != nil {
		return nil, err
	}
	return first(r, tbl, w.clone().and(`t.created_at >= ?`, times[rows.positions()[skip]]), limit)
}

// blockOfRow returns the block that has a row of a list, by the row's number, and its
// number in the block. It looks from the nearer end of the list, and reads few more blocks
// than have as many rows.
func (r *reader) blockOfRow(l list, total, number int) (b block, inBlock int, err error) {
	next, order, before := ` AND b.first_at > $3`, ` ORDER BY b.first_at LIMIT `, number
	backwards := number > total/2
	from := int64(math.MinInt64)
	if backwards {
		next, order, before = ` AND b.first_at < $3`, ` ORDER BY b.first_at DESC LIMIT `, total-1-number
		from = math.MaxInt64
	}
	for {
		found, err := r.blocks(l, next+order+r.dialect.Hidden(`$4`), from, before/r.blockRows+4)
		if err != nil {
			return b, 0, err
		}
		for _, b := range found {
			if before < b.Rows {
				if backwards {
					before = b.Rows - 1 - before
				}
				return b, before, nil
			}
			before -= b.Rows
			from = b.First
		}
		if len(found) == 0 {
			return b, 0, store.ErrNotFound
		}
	}
}

// pageWithinBlocks returns the part of a page that is in blocks, and how many rows in
// blocks w selects.
func pageWithinBlocks[T any](r *reader, tbl *table[T], l list, w *where, s store.Slice) ([]T, int, error) {
	blocks, err := r.blocks(l, ` ORDER BY b.first_at`)
	if err != nil {
		return nil, 0, err
	}
	selected, err := r.selectRows(l, w, blocks)
	if err != nil {
		return nil, 0, err
	}
	total := 0
	var page []int64 // creation times
	for i, b := range blocks {
		rows, err := confirm(r, tbl, w, b, &selected[i])
		if err != nil {
			return nil, 0, err
		}
		n := rows.count()
		if skip := max(s.Offset-total, 0); skip < n && len(page) < s.Limit {
			times, err := r.timesOf(b)
			if err != nil {
				return nil, 0, err
			}
			for _, position := range rows.positions()[skip:min(n, skip+s.Limit-len(page))] {
				page = append(page, times[position])
			}
		}
		total += n
	}
	if len(page) == 0 {
		return nil, total, nil
	}
	items, err := collect(r, tbl, r.inAccount(l.accountID).createdAt(page), "")
	slices.SortFunc(items, func(a, b T) int {
		_, aAt := tbl.listOf(&a)
		_, bAt := tbl.listOf(&b)
		return cmp.Compare(aAt, bAt)
	})
	return items, total, err
}

// createdAt selects the rows that were created at some times.
func (w *where) createdAt(times []int64) *where {
	return w.and(w.inNumbers(`t.created_at`, times))
}

// selection are rows of a block. Those in maybe, which has all in sure, are selected as far
// as the criteria tell; those in sure are selected by the criteria alone.
type selection struct{ sure, maybe rowSet }

// selectRows applies the criteria of a query to blocks.
func (r *reader) selectRows(l list, w *where, blocks []block) ([]selection, error) {
	index := make(map[int64]int, len(blocks))
	for i, b := range blocks {
		index[b.ID] = i
	}
	firstID, lastID := blocks[0].ID, blocks[0].ID
	for _, b := range blocks {
		firstID, lastID = min(firstID, b.ID), max(lastID, b.ID)
	}
	// eachBucket calls fn with a bucket of each block that has it. Mostly, few blocks between
	// the first and the last are those of other lists.
	eachBucket := func(number int, fn func(i int, content []byte)) error {
		type found struct {
			id      int64
			content []byte
		}
		query, args := `SELECT f.id, f.content FROM list_facets f WHERE f.id >= $1 AND f.id <= $2`, []any{block{ID: firstID}.bucketID(number), block{ID: lastID}.bucketID(number)}
		if lastID-firstID > 4*int64(len(blocks)) {
			query, args = `SELECT f.id, f.content FROM list_blocks b JOIN list_facets f ON f.id = $1 + b.id
				WHERE b.list = $2 AND b.account_id = $3`, []any{block{}.bucketID(number), l.table, l.accountID}
		}
		buckets, err := scan(r, query, args, func(f *found) []any { return []any{&f.id, &f.content} })
		for _, f := range buckets {
			if i, ours := index[f.id-block{}.bucketID(number)]; ours {
				fn(i, f.content)
			}
		}
		return err
	}
	selected := make([]selection, len(blocks))
	for i, b := range blocks {
		selected[i].maybe = firstRows(b.Size)
	}
	if slices.ContainsFunc(blocks, func(b block) bool { return b.Rows < b.Size }) {
		if err := eachBucket(rowsBucket, func(i int, content []byte) { selected[i].maybe = decodeRowSet(content) }); err != nil {
			return nil, err
		}
	}
	if !w.partial {
		for i := range selected {
			selected[i].sure = selected[i].maybe
		}
	}
	for _, c := range w.criteria {
		matching := make([]selection, len(blocks))
		if c.kind == facetGram {
			for _, term := range c.terms {
				if err := addContaining(matching, term, eachBucket); err != nil {
					return nil, err
				}
			}
			if err := r.addDomainsContaining(l, matching, c.terms, eachBucket); err != nil {
				return nil, err
			}
		} else {
			match, err := c.matcher()
			if err != nil {
				return nil, err
			}
			if err := eachBucket(int(c.kind), func(i int, content []byte) {
				eachFacet(content, func(value, rows []byte) {
					if match(string(value)) {
						found := decodeRowSet(rows)
						matching[i].sure.unite(&found)
					}
				})
				matching[i].maybe = matching[i].sure
			}); err != nil {
				return nil, err
			}
		}
		for i := range selected {
			selected[i].sure.intersect(&matching[i].sure)
			selected[i].maybe.intersect(&matching[i].maybe)
		}
	}
	return selected, nil
}

// maxGrams bounds how many parts of a long term are looked up.
const maxGrams = 8

// addContaining adds the rows whose text contains a term.
func addContaining(matching []selection, term string, eachBucket func(int, func(int, []byte)) error) error {
	grams, sufficient := gramsOf(term)
	var found []rowSet // that have all grams so far
	for n, gram := range grams[:min(len(grams), maxGrams)] {
		with := make([]rowSet, len(matching))
		if err := eachBucket(facet{facetGram, gram}.bucket(), func(i int, content []byte) {
			eachFacet(content, func(value, rows []byte) {
				if string(value) == gram {
					with[i] = decodeRowSet(rows)
				}
			})
		}); err != nil {
			return err
		}
		if n == 0 {
			found = with
			continue
		}
		for i := range found {
			found[i].intersect(&with[i])
		}
	}
	for i := range found {
		matching[i].maybe.unite(&found[i])
		if sufficient {
			matching[i].sure.unite(&found[i])
		}
	}
	return nil
}

// addDomainsContaining adds the mailboxes in domains whose name contains a term, if most
// mailboxes may contain it: reading them all would take long.
func (r *reader) addDomainsContaining(l list, matching []selection, terms []string, eachBucket func(int, func(int, []byte)) error) error {
	doubtful := 0
	for i := range matching {
		doubtful += matching[i].maybe.count() - matching[i].sure.count()
	}
	if l.table != mailboxes.name || doubtful < maxBlockRows/8 {
		return nil
	}
	type domain struct{ id, name string }
	known, err := scan(r, `SELECT t.id, t.name FROM domains t WHERE t.account_id = $1`, []any{l.accountID},
		func(d *domain) []any { return []any{&d.id, &d.name} })
	if err != nil {
		return err
	}
	contained := make(map[string]bool) // by id
	for _, d := range known {
		// Each mailbox has an address that ends with each form.
		for form := range strings.SplitSeq(namesText("@"+d.name), "\n") {
			contained[d.id] = contained[d.id] || slices.ContainsFunc(terms, func(term string) bool { return strings.Contains(form, term) })
		}
	}
	return eachBucket(int(facetDomain), func(i int, content []byte) {
		eachFacet(content, func(value, rows []byte) {
			if contained[string(value)] {
				found := decodeRowSet(rows)
				matching[i].sure.unite(&found)
				matching[i].maybe.unite(&found)
			}
		})
	})
}

// confirm returns the rows of a block that w selects. It reads those that the criteria do not
// decide, or their texts.
func confirm[T any](r *reader, tbl *table[T], w *where, b block, s *selection) (*rowSet, error) {
	doubtful := s.maybe
	doubtful.subtract(&s.sure)
	positions := doubtful.positions()
	if len(positions) == 0 {
		return &s.sure, nil
	}
	if !w.partial && len(positions) > b.Size/512 {
		return &s.maybe, s.confirmInTexts(r, w, b)
	}
	times, err := r.timesOf(b)
	if err != nil {
		return nil, err
	}
	w = w.clone()
	if len(positions) > b.Rows/4 { // cheaper than so many searches in the index
		w.and(`t.created_at >= ? AND t.created_at <= ?`, b.First, b.Last)
	} else {
		candidates := make([]int64, len(positions))
		for i, p := range positions {
			candidates[i] = times[p]
		}
		w.createdAt(candidates)
	}
	confirmed, err := column[int64](r, `SELECT t.created_at FROM `+tbl.name+` t`+w.text, w.args...)
	for _, at := range confirmed {
		if p, found := slices.BinarySearch(times, at); found {
			s.sure.add(p)
		}
	}
	return &s.sure, err
}

// confirmInTexts removes the rows from maybe whose text contains no term of a criterion. It
// reads the texts of a block, which is cheaper than many of its rows.
func (s *selection) confirmInTexts(r *reader, w *where, b block) error {
	texts, err := r.bucketOf(b, textsBucket)
	if err != nil {
		return err
	}
	for _, c := range w.criteria {
		if c.kind != facetGram {
			continue
		}
		var containing rowSet
		for _, term := range c.terms {
			found := rowsContaining(texts, term)
			containing.unite(&found)
		}
		s.maybe.intersect(&containing)
	}
	return nil
}
