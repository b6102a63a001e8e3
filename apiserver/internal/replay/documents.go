package replay

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// document returns the recorded response to a read of no single object, or nil: the last one before any change
// that is still to come of an object that the request names, or lists.
func (rec *Recording) document(r request) (found *response) {
	isSuccess := func(x *exchange) bool { return x.status/100 == 2 }
	all := rec.documents[rec.withoutTwins(rec.key(r))]
	if slices.ContainsFunc(all, isSuccess) {
		all = slices.DeleteFunc(slices.Clone(all), func(x *exchange) bool { return !isSuccess(x) })
	}
	body, _ := json.Marshal(r.body)
	text := r.url.Path + " " + r.query.Encode() + " " + string(body)
	reached := rec.reached(func(e *entity) bool {
		for name := range e.names {
			if strings.Contains(text, name) {
				return true
			}
		}
		return e.path == collectionOf(r.operation) && isList(r.operation)
	})
	for _, x := range all {
		if found == nil || x.at <= reached {
			found = x.response()
		}
	}
	if found != nil && r.operation.ID == api.ExportMailboxes.ID {
		rec.update(found, all)
	}
	return found
}

// reached returns the time of the first change of relevant objects that has not arrived.
func (rec *Recording) reached(isRelevant func(*entity) bool) int {
	for _, o := range rec.changes {
		if !o.replayed && (len(o.effects) == 0 || slices.ContainsFunc(o.effects, func(f effect) bool { return isRelevant(f.entity) })) {
			return o.at
		}
	}
	return len(rec.exchanges) + rec.exchanges[len(rec.exchanges)-1].at
}

// update puts the current mailboxes into an export: those in any recorded response to the request that exist now,
// with their current names, in the order of the lists. Of others, it contains those that it contained.
func (rec *Recording) update(export *response, all []*exchange) {
	recorded := rowsOf(export.body)
	columns := recorded[0]
	address := slices.Index(columns, "primary_email")
	if address < 0 {
		return
	}
	type row struct {
		place int
		cells []string
	}
	var rows []row
	isSeen := map[string]bool{}
	add := func(cells []string, isBase bool) {
		name := canonical(cells[address])
		e := rec.named("/mailboxes", name)
		place := -1
		if e != nil {
			place = slices.Index(rec.collections["/mailboxes"].entities, e)
			o := rec.now(e).object
			isBase = o != nil
			for i, column := range columns {
				if member, isText := o[column].(string); isText && strings.TrimPrefix(cells[i], "'") != member && !isTime(member) {
					cells[i] = member
				}
			}
		}
		if isBase && !isSeen[name] {
			rows = append(rows, row{place, cells})
		}
		isSeen[name] = true
	}
	for _, cells := range recorded[1:] {
		add(slices.Clone(cells), true)
	}
	for _, x := range all {
		if other := rowsOf(x.body); slices.Equal(other[0], columns) {
			for _, cells := range other[1:] {
				add(cells, false)
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.place, b.place) })
	updated := [][]string{columns}
	for _, r := range rows {
		updated = append(updated, r.cells)
	}
	if slices.EqualFunc(updated, recorded, slices.Equal) {
		return
	}
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	w.UseCRLF = bytes.Contains(export.body, []byte("\r\n"))
	_ = w.WriteAll(updated) // to a buffer
	export.body = out.Bytes()
}

// rowsOf returns the rows of a CSV file; the first one contains the columns.
func rowsOf(text []byte) [][]string {
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(rows) == 0 {
		return [][]string{nil}
	}
	return rows
}
