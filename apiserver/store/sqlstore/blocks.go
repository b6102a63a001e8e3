package sqlstore

import (
	"fmt"
	"hash/fnv"
	"reflect"
	"slices"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// A long list is divided into blocks of rows that are consecutive in its order, so that
// no read counts or skips rows one by one. A block knows how many rows it has and which
// of them have which facet: a value that filters select by, or a part of a text with up
// to three characters. Totals are sums of counts, filters are intersections of sets of
// rows, and the rows of a page are then read by their creation times.
//
// Only rows that are followed by enough others are in blocks. A create writes nothing
// for them, so that creates don't contend for a counter: every now and then one of them
// finds that the rows behind the last block, the tail, are enough for another block.
// Queries read the tail row by row.
//
//	list_totals   how many rows the blocks of a list have together
//	list_blocks   the creation times of a block's first and last row, and its number of rows
//	list_facets   what else is known of a block, in buckets:
//	  rowsBucket  the rows that have not been deleted, unless all have not, as a rowSet
//	  timesBucket the creation times of all rows, by which a position leads to a row
//	  textsBucket the texts of all rows, for terms that are longer than a facet
//	  others      rowSets by the facets of one kind, or of those with the same hash
//
// A position in a block stays the same when other rows are deleted. Blocks that have
// become small are merged with their neighbours.

// facet is a value that filters select the rows of a list by.
type facet struct {
	kind  facetKind
	value string
}

// facetKind is what facets have in common. An object has one facet of each kind, except
// that it may have any number of grams. The numbers are stored.
type facetKind int

const (
	rowsBucket  = 0
	timesBucket = 1

	facetDomain facetKind = 2
	facetStatus facetKind = 3
	facetScope  facetKind = 4

	textsBucket = 5

	// facetGram is a part of a text. There are many, in buckets of their own.
	facetGram facetKind = 100

	gramBuckets = 128
	maxBuckets  = 256
)

func (f facet) bucket() int {
	if f.kind != facetGram {
		return int(f.kind)
	}
	return int(facetGram) + int(hash(f.value)%gramBuckets)
}

// hash must not change, because its results are stored.
func hash(s string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s))
	return h.Sum32()
}

// facetsOf returns the facets of an object.
func (tbl *table[T]) facetsOf(v *T) []facet {
	facets, text := tbl.facets(v)
	eachGram(text, func(gram string) { facets = append(facets, facet{facetGram, gram}) })
	return facets
}

// block is a row of list_blocks.
type block struct {
	ID int64
	// First and Last are the creation times of its first and its last row, which has
	// not been deleted.
	First, Last int64
	// Rows is how many of its rows have not been deleted.
	Rows int
	// Size is how many rows it had when it was made.
	Size int
}

func (b *block) fields() []any { return []any{&b.ID, &b.First, &b.Last, &b.Rows, &b.Size} }

const selectBlocks = `SELECT b.id, b.first_at, b.last_at, b.row_count, b.size FROM list_blocks b WHERE b.list = $1 AND b.account_id = $2`

// blocks returns the blocks of a list. The end of the query may be further conditions,
// an order and a limit.
func (r *reader) blocks(l list, end string, args ...any) ([]block, error) {
	found, err := scan(r, selectBlocks+end,
		append([]any{l.table, l.accountID}, args...), (*block).fields)
	if err != nil {
		return nil, fmt.Errorf("read the blocks of %s: %w", l.table, err)
	}
	return found, nil
}

// blockAt returns the block with the row that was created at a time, unless that is in
// the tail.
func (r *reader) blockAt(l list, at int64) (block, error) {
	b, err := only(r.blocks(l, ` AND b.first_at <= $3 ORDER BY b.first_at DESC LIMIT 1`, at))
	if err == nil && b.Last < at {
		err = store.ErrNotFound
	}
	return b, err
}

// blockWithTimes is blockAt and timesOf.
func (r *reader) blockWithTimes(l list, at int64) (b block, times []int64, err error) {
	if b, err = r.blockAt(l, at); err == nil {
		times, err = r.timesOf(b)
	}
	return b, times, err
}

// bucketOf returns the content of a bucket, which is empty if the block has none.
func (r *reader) bucketOf(b block, number int) ([]byte, error) {
	found, err := column[[]byte](r, `SELECT content FROM list_facets WHERE id = $1`, b.bucketID(number))
	if len(found) == 0 || err != nil {
		return nil, err
	}
	return found[0], nil
}

// rowsOf returns the rows of a block that have not been deleted.
func (r *reader) rowsOf(b block) (rows rowSet, err error) {
	if b.Rows == b.Size {
		return firstRows(b.Size), nil
	}
	content, err := r.bucketOf(b, rowsBucket)
	return decodeRowSet(content), err
}

// timesOf returns the creation times of a block's rows by their positions.
func (r *reader) timesOf(b block) ([]int64, error) {
	content, err := r.bucketOf(b, timesBucket)
	return decodeTimes(content), err
}

// bucketID returns the id of a bucket in list_facets. The buckets of all blocks with one
// number follow each other, because a query reads those of few numbers.
func (b block) bucketID(number int) int64 { return int64(number)*firstBucketID + b.ID }

const firstBucketID = 1 << 48

func (t *tx) putBucket(b block, number int, content []byte) error {
	_, err := t.exec(`INSERT INTO list_facets (id, content) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET content = excluded.content`,
		b.bucketID(number), content)
	if err != nil {
		return fmt.Errorf("write facets: %w", err)
	}
	return nil
}

// listOf returns the list of an object and its creation time in it.
func (tbl *table[T]) listOf(v *T) (list, int64) {
	fields := tbl.fields(v)
	return list{tbl.name, *fields[tbl.account].(*string)}, fields[tbl.createdAt].(micros).at.UnixMicro()
}

// extendBlocks makes blocks of the tail of the list in which an object was created, if
// that is long enough. It finds out at random, so that no create writes a counter.
func extendBlocks[T any](t *tx, tbl *table[T], created *T) error {
	if tbl.facets == nil {
		return nil
	}
	id := fmt.Sprint(reflect.ValueOf(tbl.fields(created)[tbl.id]).Elem())
	if hash(id)%max(uint32(t.blockRows)/16, 1) != 0 {
		return nil
	}
	l, _ := tbl.listOf(created)
	last, err := t.blocks(l, ` ORDER BY b.first_at DESC LIMIT 1`)
	if err != nil {
		return err
	}
	after := int64(-1 << 63)
	if len(last) > 0 {
		after = last[0].Last
	}
	for {
		tail := t.inAccount(l.accountID).and(`t.created_at > ?`, after)
		ends, err := column[int64](&t.reader, `SELECT t.created_at FROM `+tbl.name+` t`+tail.text+inOrder+` LIMIT 1 OFFSET `+tail.bind(t.blockRows-1), tail.args...)
		if len(ends) == 0 || err != nil {
			return err
		}
		if err := addBlock(t, tbl, l, after, ends[0]); err != nil {
			return err
		}
		after = ends[0]
	}
}

// addBlock makes a block of the rows that were created after a time and until another.
func addBlock[T any](t *tx, tbl *table[T], l list, after, until int64) error {
	items, err := all(&t.reader, tbl, t.inAccount(l.accountID).and(`t.created_at > ? AND t.created_at <= ?`, after, until))
	if len(items) == 0 || err != nil {
		return err
	}
	var buckets [maxBuckets]bucket
	rowsWith := func(f facet) *rowSet {
		b := &buckets[f.bucket()]
		if *b == nil {
			*b = bucket{}
		}
		return b.at(f.value)
	}
	grams := make(map[string]*rowSet) // each is put into its bucket once
	times, texts := make([]int64, len(items)), make([]string, len(items))
	for i := range items {
		_, times[i] = tbl.listOf(&items[i])
		var facets []facet
		facets, texts[i] = tbl.facets(&items[i])
		for _, f := range facets {
			rowsWith(f).add(i)
		}
		eachGram(texts[i], func(gram string) {
			s := grams[gram]
			if s == nil {
				s = rowsWith(facet{facetGram, gram})
				grams[gram] = s
			}
			s.add(i)
		})
	}
	ids, err := column[int64](&t.reader, `INSERT INTO list_blocks (list, account_id, first_at, last_at, row_count, size) VALUES ($1, $2, $3, $4, $5, $5) RETURNING id`,
		l.table, l.accountID, times[0], times[len(times)-1], len(items))
	if err != nil {
		return fmt.Errorf("write a block: %w", err)
	}
	b := block{ID: ids[0]}
	if err := t.addToTotal(l, len(items)); err != nil {
		return err
	}
	if err := t.putBucket(b, timesBucket, encodeTimes(times)); err != nil {
		return err
	}
	if err := t.putBucket(b, textsBucket, encodeTexts(texts)); err != nil {
		return err
	}
	for n, content := range buckets {
		if content != nil {
			if err := t.putBucket(b, n, content.encode()); err != nil {
				return err
			}
		}
	}
	return nil
}

// changeFacets replaces the facets that an object had before a change, if it is in a
// block.
func changeFacets[T any](t *tx, tbl *table[T], before, after *T) error {
	if tbl.facets == nil {
		return nil
	}
	had, has := tbl.facetsOf(before), tbl.facetsOf(after)
	lost, gained := without(had, has), without(has, had)
	if len(lost)+len(gained) == 0 {
		return nil
	}
	l, at := tbl.listOf(after)
	b, times, err := t.blockWithTimes(l, at)
	if err != nil {
		return ignoreNotFound(err)
	}
	position, _ := slices.BinarySearch(times, at)
	_, oldText := tbl.facets(before)
	if _, text := tbl.facets(after); text != oldText {
		texts, err := t.bucketOf(b, textsBucket)
		if err != nil {
			return err
		}
		if err := t.putBucket(b, textsBucket, replaceText(texts, position, text)); err != nil {
			return err
		}
	}
	changed := map[int]bucket{}
	change := func(facets []facet, fn func(*rowSet)) error {
		for _, f := range facets {
			n := f.bucket()
			if changed[n] == nil {
				content, err := t.bucketOf(b, n)
				if err != nil {
					return err
				}
				changed[n] = decodeBucket(content)
			}
			fn(changed[n].at(f.value))
		}
		return nil
	}
	if err := change(lost, func(s *rowSet) { s.remove(position) }); err != nil {
		return err
	}
	if err := change(gained, func(s *rowSet) { s.add(position) }); err != nil {
		return err
	}
	for n, content := range changed {
		if err := t.putBucket(b, n, content.encode()); err != nil {
			return err
		}
	}
	return nil
}

// without returns the facets that are not among others.
func without(facets, others []facet) []facet {
	known := make(map[facet]bool, len(others))
	for _, f := range others {
		known[f] = true
	}
	return slices.DeleteFunc(slices.Clone(facets), func(f facet) bool { return known[f] })
}

// leaveBlock removes a deleted object from its block, if it is in one.
func leaveBlock[T any](t *tx, tbl *table[T], deleted *T) error {
	if tbl.facets == nil {
		return nil
	}
	l, at := tbl.listOf(deleted)
	b, times, err := t.blockWithTimes(l, at)
	if err != nil {
		return ignoreNotFound(err)
	}
	rows, err := t.rowsOf(b)
	if err != nil {
		return err
	}
	position, found := slices.BinarySearch(times, at)
	if !found || !rows.has(position) {
		return nil // other rows were deleted with it, and their block was merged
	}
	rows.remove(position)
	left := rows.positions()
	if len(left) == 0 {
		return t.deleteBlock(l, b)
	}
	if err := t.addToTotal(l, -1); err != nil {
		return err
	}
	// New rows are created after the last one that exists, and must not get into the block.
	b.Rows, b.Last = len(left), times[left[len(left)-1]]
	if err := t.putBucket(b, rowsBucket, rows.encode()); err != nil {
		return err
	}
	if err := t.change(`UPDATE list_blocks SET last_at = $1, row_count = $2 WHERE id = $3`, b.Last, b.Rows, b.ID); err != nil {
		return err
	}
	return mergeBlocks(t, tbl, l, b)
}

// mergeBlocks makes one block of a small one and a neighbour, so that a list has few
// blocks after most of its rows were deleted.
func mergeBlocks[T any](t *tx, tbl *table[T], l list, b block) error {
	if b.Rows > t.blockRows/4 {
		return nil
	}
	for _, neighbour := range []string{
		` AND b.first_at > $3 ORDER BY b.first_at LIMIT 1`,
		` AND b.first_at < $3 ORDER BY b.first_at DESC LIMIT 1`,
	} {
		found, err := t.blocks(l, neighbour, b.First)
		if err != nil {
			return err
		}
		if len(found) == 0 || found[0].Rows+b.Rows > t.blockRows/2 {
			continue
		}
		if err := t.deleteBlock(l, b); err != nil {
			return err
		}
		if err := t.deleteBlock(l, found[0]); err != nil {
			return err
		}
		return addBlock(t, tbl, l, min(b.First, found[0].First)-1, max(b.Last, found[0].Last))
	}
	return nil
}

func (t *tx) deleteBlock(l list, b block) error {
	if err := t.addToTotal(l, -b.Rows); err != nil {
		return err
	}
	if err := t.change(`DELETE FROM list_blocks WHERE id = $1`, b.ID); err != nil {
		return err
	}
	var buckets [maxBuckets]int64
	for n := range buckets {
		buckets[n] = b.bucketID(n)
	}
	w := t.inAllAccounts()
	w.and(w.inNumbers(`t.id`, buckets[:]))
	if _, err := t.exec(`DELETE FROM list_facets AS t`+w.text, w.args...); err != nil {
		return fmt.Errorf("delete facets: %w", err)
	}
	return nil
}

// addToTotal changes the number of rows in all blocks of a list.
func (t *tx) addToTotal(l list, n int) error {
	if _, err := t.exec(`INSERT INTO list_totals (list, account_id, row_count) VALUES ($1, $2, $3)
		ON CONFLICT (list, account_id) DO UPDATE SET row_count = list_totals.row_count + excluded.row_count`, l.table, l.accountID, n); err != nil {
		return fmt.Errorf("count the rows in blocks: %w", err)
	}
	return nil
}
