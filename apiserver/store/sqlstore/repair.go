package sqlstore

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// events returns the table's columns with times of events, which are never planned for the future, created_at
// first.
func (d declaration) events() (names []string) {
	for _, c := range d.fields {
		_, isPlanned := d.planned[c.name]
		switch {
		case isPlanned || d.object.FieldByIndex(c.index).Type != reflect.TypeFor[time.Time]():
		case c.name == "created_at":
			names = slices.Insert(names, 0, c.name)
		default:
			names = append(names, c.name)
		}
	}
	return names
}

func (r *reader) FutureTimes(after time.Time) (found []store.FutureTimes, err error) {
	for _, d := range declared {
		events := d.events()
		if len(events) == 0 {
			continue
		}
		times := make([]time.Time, len(events))
		f := store.FutureTimes{Table: d.name}
		selected, dest := `SELECT COUNT(*)`, []any{&f.Rows}
		for i, c := range events {
			selected += `, COALESCE(MAX(` + c + `), 0)`
			dest = append(dest, stored(&times[i]))
		}
		query := selected + ` FROM ` + d.name + ` WHERE ` + strings.Join(events, ` > $1 OR `) + ` > $1`
		if err := eachRow(r.ctx, r.q, query, []any{stored(after)}, dest, func() {}); err != nil {
			return nil, fmt.Errorf("look for times in the future in %s: %w", d.name, err)
		}
		if f.Latest = slices.MaxFunc(times, time.Time.Compare); f.Rows > 0 {
			found = append(found, f)
		}
	}
	return found, nil
}

func (t *tx) RepairTimes(now time.Time) ([]store.FutureTimes, error) {
	if _, err := t.Accounts(); err != nil { // so that the update is alone on every account
		return nil, err
	}
	limit := now.Add(store.ClockTolerance)
	found, err := t.FutureTimes(limit)
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		d := declared[slices.IndexFunc(declared, func(d declaration) bool { return d.name == f.Table })]
		events := d.events()
		if err := t.repairCreations(d.name, now, limit); err != nil {
			return nil, err
		}
		for _, c := range events[1:] {
			repaired := `CASE WHEN created_at > $2 THEN created_at ELSE $2 END`
			set := []string{c + ` = ` + repaired}
			for planned, from := range d.planned {
				if from == c {
					set = append(set, fmt.Sprintf(`%s = CASE WHEN %[1]s = 0 THEN 0 ELSE %[1]s - (%s - %s) END`, planned, c, repaired))
				}
			}
			if err := t.exec(`UPDATE `+d.name+` SET `+strings.Join(set, ", ")+` WHERE `+c+` > $1`, limit, now); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// repairCreations gives the rows that were created after limit new times in the same order, one microsecond after
// the other, at about now and after the other rows.
func (t *tx) repairCreations(table string, now, limit time.Time) error {
	type last struct {
		before time.Time
		after  int
	}
	l, err := only(scan(&t.reader, `SELECT COALESCE((SELECT MAX(created_at) FROM `+table+` WHERE created_at <= $1), 0), (SELECT COUNT(*) FROM `+table+` WHERE created_at > $1)`,
		[]any{stored(limit)}, func(l *last) []any { return []any{stored(&l.before), &l.after} }))
	if err != nil {
		return fmt.Errorf("repair %s: %w", table, err)
	}
	first := now.Add(-time.Duration(l.after) * time.Microsecond)
	if l.before.After(first) {
		first = l.before
	}
	return t.exec(`UPDATE `+table+` SET created_at = f.at
		FROM (SELECT id, CAST($2 AS BIGINT) + ROW_NUMBER() OVER (ORDER BY created_at, id) AS at FROM `+table+` WHERE created_at > $1) f WHERE `+table+`.id = f.id`, limit, first)
}
