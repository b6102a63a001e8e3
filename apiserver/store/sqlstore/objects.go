package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// object is a row of Dialect.Objects.
type object struct {
	// name begins with the kind: "trigger accounts_changed of the table accounts".
	name string
	// create makes the object, and is "" for what no migration makes. remove removes it or ends its state.
	create, remove string
	// state is "", or a state that no object may have, such as "disabled".
	state string
	// rename, unless "", gives the object the name that follows it.
	rename string
}

// inTable separates the name of an object from the name of its table.
const inTable = " of the "

// objectsOf returns the objects of the database's schema in order.
func objectsOf(ctx context.Context, q Querier, d *Dialect) ([]object, error) {
	var rank int
	objects, err := scan(&reader{ctx: ctx, q: q}, d.Objects, nil, func(o *object) []any { return []any{&rank, &o.name, &o.create, &o.remove, &o.state, &o.rename} })
	if err != nil {
		return nil, fmt.Errorf("list the objects of the schema: %w", err)
	}
	return objects, nil
}

// Describe returns the objects of the database's schema as a text for a file of Dialect.Own.
func Describe(ctx context.Context, q Querier, d *Dialect) (string, error) {
	objects, err := objectsOf(ctx, q, d)
	var text strings.Builder
	for _, o := range objects {
		fmt.Fprintf(&text, "-- %s\n%s;\n", o.name, o.create)
	}
	return text.String(), err
}

// own returns the objects of a version of the schema: their names in order, and the statements that make them. Those
// of a version between releases are not known.
func (d *Dialect) own(version, own int) (names []string, create map[string]string) {
	if d.Own == nil {
		return nil, nil
	}
	file := "schema/objects.txt"
	if version < own {
		file = fmt.Sprintf("schema/objects_%04d.txt", version)
	}
	text, _ := fs.ReadFile(d.Own, file)
	create = map[string]string{}
	for part := range strings.SplitSeq(strings.ReplaceAll("\n"+string(text), "\r\n", "\n"), "\n-- ") {
		if name, statement, _ := strings.Cut(part, "\n"); name != "" {
			names = append(names, name)
			create[name] = strings.TrimSuffix(strings.TrimSuffix(statement, "\n"), ";")
		}
	}
	return names, create
}

// faults collects the objects of a schema that are not as the migrations made them.
type faults struct {
	texts []string
	// repairs are the statements that mend what is the program's own, drops those that remove what is not.
	repairs, drops []string
	// foreign means that an object is not the program's.
	foreign bool
	// tables holds the tables that are missing or foreign with everything in them.
	tables map[string]bool
}

func (f *faults) add(name, text, repair string) {
	if _, table, ok := strings.Cut(name, inTable); ok && f.tables[table] {
		return
	}
	if strings.ContainsFunc(name, unicode.IsControl) {
		name = strconv.Quote(name)
	}
	f.texts = append(f.texts, "the "+name+" "+text)
	appendNew(&f.repairs, repair)
}

// quoted matches a name in quotes that needs none. Renaming a table adds them in SQLite.
var quoted = regexp.MustCompile("[\"`\\[]([A-Za-z_]\\w*)[\"`\\]]")

// sameStatement reports whether two statements differ at most in their white space and the quotes of names. In one
// with comments, a line break has a meaning.
func sameStatement(a, b string) bool {
	a, b = quoted.ReplaceAllString(a, "$1"), quoted.ReplaceAllString(b, "$1")
	return a == b || !strings.Contains(a+b, "--") && onOneLine(a) == onOneLine(b)
}

func onOneLine(statement string) string { return strings.Join(strings.Fields(statement), " ") }

func appendNew(statements *[]string, statement string) {
	line := strings.TrimSuffix(onOneLine(statement), ";")
	if statement != "" && !isNameBroken(statement) && !slices.Contains(*statements, line) {
		*statements = append(*statements, line)
	}
}

// checkObjects returns an error that names each object of the schema that is missing, changed or disabled, and
// each one that no migration made: they change the program's reads and writes. own is this program's version of
// the schema. In an empty database, version 0, nothing is missing. A newer program may have changed any object,
// but disables none, keeps the tables, and keeps a trigger for each change of authority.
func checkObjects(ctx context.Context, q Querier, d *Dialect, version, own int) error {
	if d.Own == nil {
		return nil
	}
	names, statements := d.own(version, own)
	if names == nil && version > 0 {
		return nil
	}
	objects, err := objectsOf(ctx, q, d)
	if err != nil {
		return err
	}
	f, stored := faults{tables: map[string]bool{}}, objects
	if version <= own {
		objects = f.findRenamed(objects, names, statements)
	}
	for _, name := range names {
		exists := slices.ContainsFunc(objects, func(o object) bool { return o.name == name && o.state == "" })
		switch {
		case version > own && strings.HasPrefix(name, "trigger "):
			if !firesInstead(objects, name, statements[name]) {
				f.add(name, "is missing", statements[name])
			}
		case exists, version > own && !strings.HasPrefix(name, "table "):
		case holdsRows(name):
			f.add(name, "is missing, with its content", "")
			f.tables[name] = true
		default:
			f.add(name, "is missing", statements[name])
		}
	}
	for _, o := range objects {
		statement, isOwn := statements[o.name]
		switch {
		case o.state != "":
			f.add(o.name, "is "+o.state, o.remove)
		case version > own && o.create != "", sameStatement(o.create, statement) && isOwn:
		case !isOwn:
			f.add(o.name, "is not this program's", "")
			f.foreign, f.tables[o.name] = true, true
			if !holdsRows(o.name) {
				appendNew(&f.drops, o.remove)
			}
		case holdsRows(o.name):
			f.add(o.name, "was changed", alterColumn(o.create, statement))
		case o.remove == "":
			f.add(o.name, "was changed", statement)
		default:
			f.add(o.name, "was changed", o.remove+"; "+statement)
		}
	}
	for _, row := range neededRows {
		if !slices.ContainsFunc(stored, func(o object) bool { return o.name == "table "+row.table }) {
			continue
		}
		if rows, err := column[int](&reader{ctx: ctx, q: q}, `SELECT 1 FROM `+row.table); err != nil {
			return fmt.Errorf("read the table %s: %w", row.table, err)
		} else if len(rows) == 0 {
			f.add("row"+inTable+"table "+row.table, "is missing", row.insert)
		}
	}
	if f.texts == nil {
		return nil
	}
	if d.Prelude != "" && f.repairs != nil {
		prelude, err := column[string](&reader{ctx: ctx, q: q}, d.Prelude)
		if err != nil {
			return err
		}
		f.repairs = append(prelude, f.repairs...)
	}
	return f.err()
}

// neededRows are the rows that a migration inserts and the program only updates.
var neededRows = []struct{ table, insert string }{
	{"authorization_version", `INSERT INTO authorization_version VALUES (1, 1)`},
	{"server", `INSERT INTO server (id, public_url) VALUES (1, '')`},
}

// events matches the events of a trigger.
var events = regexp.MustCompile(`\b(INSERT|UPDATE|DELETE)\b`)

// firesInstead reports whether triggers of the same table fire at the events of the program's own trigger.
func firesInstead(objects []object, name, statement string) bool {
	eventsOf := func(statement string) []string {
		head, _, _ := strings.Cut(onOneLine(statement), " ON ")
		return events.FindAllString(head, -1)
	}
	_, table, _ := strings.Cut(name, inTable)
	var fires []string
	for _, o := range objects {
		if _, of, _ := strings.Cut(o.name, inTable); of == table && strings.HasPrefix(o.name, "trigger ") {
			fires = append(fires, eventsOf(o.create)...)
		}
	}
	return !slices.ContainsFunc(eventsOf(statement), func(event string) bool { return !slices.Contains(fires, event) })
}

// nameless matches a statement that makes an index, a constraint or a trigger; the second group is its name.
var nameless = regexp.MustCompile(`(?s)^(CREATE (?:UNIQUE )?INDEX |ALTER TABLE .*? ADD CONSTRAINT |CREATE TRIGGER )("(?:[^"]|"")*"|\S+)( .*)$`)

// findRenamed adds the missing objects that exist with another name, and returns the objects as they are after the
// repair.
func (f *faults) findRenamed(objects []object, names []string, statements map[string]string) []object {
	for _, name := range names {
		kind, plain, _ := strings.Cut(name, " ")
		plain, table, _ := strings.Cut(plain, inTable)
		if slices.ContainsFunc(objects, func(o object) bool { return o.name == name }) {
			continue
		}
		for i, o := range objects {
			if _, isOwn := statements[o.name]; isOwn || o.rename == "" || !strings.HasPrefix(o.name, kind+" ") || isNameBroken(o.rename) {
				continue
			}
			if kind == "table" {
				renamed := afterRename(objects, strings.TrimPrefix(o.name, "table "), plain)
				if !equalTables(renamed, name, names, statements) {
					continue
				}
				objects = renamed
			} else {
				const content = "$1$3"
				_, of, _ := strings.Cut(o.name, inTable)
				if of != table || !sameStatement(nameless.ReplaceAllString(o.create, content), nameless.ReplaceAllString(statements[name], content)) {
					continue
				}
				objects = slices.Clone(objects)
				objects[i].name, objects[i].create = name, statements[name]
			}
			f.add(name, "is there as the "+o.name, o.rename+plain)
			break
		}
	}
	return objects
}

// afterRename returns the objects as they are after the table from was renamed.
func afterRename(objects []object, from, to string) []object {
	word := regexp.MustCompile(`"?\b` + regexp.QuoteMeta(from) + `\b"?`)
	objects = slices.Clone(objects)
	for i := range objects {
		for _, text := range []*string{&objects[i].name, &objects[i].create, &objects[i].remove, &objects[i].rename} {
			*text = word.ReplaceAllString(*text, to)
		}
	}
	return objects
}

// equalTables reports whether the objects contain the program's own table with its columns.
func equalTables(objects []object, table string, names []string, statements map[string]string) bool {
	for _, name := range names {
		if (name == table || strings.HasPrefix(name, "column ") && strings.HasSuffix(name, inTable+table)) &&
			!slices.ContainsFunc(objects, func(o object) bool { return o.name == name && sameStatement(o.create, statements[name]) }) {
			return false
		}
	}
	return true
}

// isNameBroken reports whether a statement that drops or renames an object contains a name with a line break.
func isNameBroken(statement string) bool {
	return (strings.HasPrefix(statement, "DROP ") || strings.Contains(statement, " RENAME ")) && strings.ContainsFunc(statement, unicode.IsControl)
}

// addColumn matches the statement that makes a column.
var addColumn = regexp.MustCompile(`^ALTER TABLE (\S+) ADD COLUMN (\S+) (.*?)( NOT NULL)?( DEFAULT .*)?$`)

// alterColumn returns a statement that mends a column, or "" if more than NOT NULL and DEFAULT differ.
func alterColumn(found, own string) string {
	is, want := addColumn.FindStringSubmatch(found), addColumn.FindStringSubmatch(own)
	if is == nil || want == nil || !slices.Equal(is[1:4], want[1:4]) {
		return ""
	}
	var changes []string
	for i := 4; i <= 5; i++ {
		change, part := "SET", want[i]
		if part == "" {
			change, part = "DROP", is[i]
		}
		if i == 5 && change == "DROP" {
			part = " DEFAULT"
		}
		if is[i] != want[i] {
			changes = append(changes, "ALTER COLUMN "+want[2]+" "+change+part)
		}
	}
	return "ALTER TABLE " + want[1] + " " + strings.Join(changes, ", ")
}

// holdsRows reports whether an object contains data, which no statement brings back.
func holdsRows(name string) bool {
	return strings.HasPrefix(name, "table ") || strings.HasPrefix(name, "column ")
}

func (f *faults) err() error {
	var advice []string
	if f.repairs != nil {
		advice = append(advice, "to repair it, stop the servers and run in the database `"+strings.Join(f.repairs, "; ")+"`")
	}
	if f.foreign {
		advice = append(advice, "if something is another program's, use a database or a schema without it")
	}
	if f.drops != nil {
		advice = append(advice, "if you made it, run `"+strings.Join(f.drops, "; ")+"`")
	} else if f.foreign {
		advice = append(advice, "if you made it, drop it")
	}
	last := "restore a backup that you trust"
	if advice != nil {
		last = "otherwise " + last
	}
	advice = append(advice, last)
	return errors.New("its schema is not the one that this program makes: " + strings.Join(f.texts, ", ") + "; " + strings.Join(advice, "; "))
}
