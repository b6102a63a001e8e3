package sqlstore

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// repair replaces the names of times in SQL: $now, $limit, which no time of an event may be after, and $period_end,
// which no cancellation may be after.
func repair(now time.Time, sql string) string {
	limit := now.Add(store.ClockTolerance)
	micros := func(t time.Time) string { return strconv.FormatInt(t.UnixMicro(), 10) }
	return strings.NewReplacer("$now", micros(now), "$limit", micros(limit), "$period_end", micros(store.PeriodEnd(limit))).Replace(sql)
}

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

func (r *reader) FutureTimes(now time.Time) (found []store.FutureTimes, err error) {
	for _, d := range declared {
		events := d.events()
		if len(events) == 0 {
			continue
		}
		var wrong []string
		var times []*time.Time
		f := store.FutureTimes{Table: d.name}
		selected, dest := `SELECT COUNT(*)`, []any{&f.Rows}
		add := func(column, isWrong string) {
			at := new(time.Time)
			wrong, times, dest = append(wrong, isWrong), append(times, at), append(dest, stored(at))
			selected += `, COALESCE(MAX(CASE WHEN ` + isWrong + ` THEN ` + column + ` END), 0)`
		}
		for _, c := range events {
			add(c, c+` > $limit`)
		}
		for c, repaired := range d.planned {
			if repaired != "" {
				add(c, c+` <> `+repaired)
			}
		}
		query := selected + ` FROM ` + d.name + ` WHERE ` + strings.Join(wrong, ` OR `)
		if err := eachRow(r.ctx, r.q, repair(now, query), nil, dest, func() {}); err != nil {
			return nil, fmt.Errorf("look for times in the future in %s: %w", d.name, err)
		}
		for _, at := range times {
			if at.After(f.Latest) {
				f.Latest = *at
			}
		}
		if f.Rows > 0 {
			found = append(found, f)
		}
	}
	return found, nil
}

func (r *reader) MostlyFuture(now time.Time) (bool, error) {
	count := func(table string) (all, future int, err error) {
		query := repair(now, `SELECT COUNT(*), COUNT(CASE WHEN created_at > $limit THEN 1 END) FROM `+table)
		err = eachRow(r.ctx, r.q, query, nil, []any{&all, &future}, func() {})
		return all, future, err
	}
	all, future, err := count("audit_entries")
	if err != nil || all > 0 {
		return 2*future > all, err
	}
	for _, d := range declared {
		if len(d.events()) == 0 {
			continue
		}
		n, late, err := count(d.name)
		if err != nil {
			return false, err
		}
		all, future = all+n, future+late
	}
	return 2*future > all, nil
}

func (t *tx) RepairTimes(now time.Time) ([]store.FutureTimes, error) {
	if _, err := t.Accounts(); err != nil { // so that the update is alone on every account
		return nil, err
	}
	found, err := t.FutureTimes(now)
	if err != nil {
		return nil, err
	}
	var tables []declaration // a mailbox's times depend on its domain's, so parents are last
	for _, d := range slices.Backward(declared) {
		if slices.ContainsFunc(found, func(f store.FutureTimes) bool { return f.Table == d.name }) {
			tables = append(tables, d)
		}
	}
	for _, d := range tables { // planned times depend on those of events
		for c, repaired := range d.planned {
			if repaired == "" {
				continue
			}
			if err := t.exec(repair(now, `UPDATE `+d.name+` SET `+c+` = `+repaired+` WHERE `+c+` <> `+repaired)); err != nil {
				return nil, err
			}
		}
	}
	for _, d := range tables {
		if err := t.repairCreations(d.name, now); err != nil {
			return nil, err
		}
		for _, c := range d.events()[1:] {
			if err := t.exec(repair(now, `UPDATE `+d.name+` SET `+c+` = CASE WHEN created_at > $now THEN created_at ELSE $now END WHERE `+c+` > $limit`)); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// repairCreations gives the rows that were created after $limit new times in the same order, one microsecond after
// the other, at about now and after the other rows.
func (t *tx) repairCreations(table string, now time.Time) error {
	type last struct {
		before time.Time
		after  int
	}
	l, err := only(scan(&t.reader, repair(now, `SELECT COALESCE((SELECT MAX(created_at) FROM `+table+` WHERE created_at <= $limit), 0), (SELECT COUNT(*) FROM `+table+` WHERE created_at > $limit)`),
		nil, func(l *last) []any { return []any{stored(&l.before), &l.after} }))
	if err != nil {
		return fmt.Errorf("repair %s: %w", table, err)
	}
	first := now.Add(-time.Duration(l.after) * time.Microsecond)
	if l.before.After(first) {
		first = l.before
	}
	return t.exec(repair(now, `UPDATE `+table+` SET created_at = f.at
		FROM (SELECT id, CAST($1 AS BIGINT) + ROW_NUMBER() OVER (ORDER BY created_at, id) AS at FROM `+table+` WHERE created_at > $limit) f WHERE `+table+`.id = f.id`), first)
}
