package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// object is a row of Dialect.Objects.
type object struct {
	// name begins with the kind: "trigger accounts_changed of the table accounts".
	name string
	// create makes the object, and is "" for what no migration makes. remove removes it or ends its state.
	create, remove string
	// state is "", or a state that no object may have, such as "disabled".
	state string
}

// inTable separates the name of an object from the name of its table.
const inTable = " of the "

// objectsOf returns the objects of the database's schema in order.
func objectsOf(ctx context.Context, q Querier, d *Dialect) ([]object, error) {
	var rank int
	objects, err := scan(&reader{ctx: ctx, q: q}, d.Objects, nil, func(o *object) []any { return []any{&rank, &o.name, &o.create, &o.remove, &o.state} })
	if err != nil {
		return nil, fmt.Errorf("list the objects of the schema: %w", err)
	}
	return objects, nil
}

// Describe returns the objects of the database's schema as a text for Dialect.Own.
func Describe(ctx context.Context, q Querier, d *Dialect) (string, error) {
	objects, err := objectsOf(ctx, q, d)
	var text strings.Builder
	for _, o := range objects {
		fmt.Fprintf(&text, "-- %s\n%s;\n", o.name, o.create)
	}
	return text.String(), err
}

// own returns the objects of Dialect.Own: their names in order, and the statements that make them.
func (d *Dialect) own() (names []string, create map[string]string) {
	create = map[string]string{}
	for part := range strings.SplitSeq(strings.ReplaceAll("\n"+d.Own, "\r\n", "\n"), "\n-- ") {
		if name, statement, ok := strings.Cut(part, "\n"); ok {
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
	f.texts = append(f.texts, "the "+name+" "+text)
	appendNew(&f.repairs, repair)
}

// sameStatement reports whether two statements differ at most in their white space. In one with comments, a line
// break has a meaning.
func sameStatement(a, b string) bool {
	return a == b || !strings.Contains(a+b, "--") && onOneLine(a) == onOneLine(b)
}

func onOneLine(statement string) string { return strings.Join(strings.Fields(statement), " ") }

func appendNew(statements *[]string, statement string) {
	line := strings.TrimSuffix(onOneLine(statement), ";")
	if statement != "" && !slices.Contains(*statements, line) {
		*statements = append(*statements, line)
	}
}

// checkObjects returns an error that names each object of the schema that is missing, changed or disabled, and
// each one that no migration made: they change the program's reads and writes. own is this program's version of
// the schema. In an empty database, version 0, nothing is missing. A newer program may have changed any object,
// but disables none.
func checkObjects(ctx context.Context, q Querier, d *Dialect, version, own int) error {
	if d.Own == "" {
		return nil
	}
	objects, err := objectsOf(ctx, q, d)
	if err != nil {
		return err
	}
	f := faults{tables: map[string]bool{}}
	names, statements := d.own()
	for _, name := range names {
		switch exists := slices.ContainsFunc(objects, func(o object) bool { return o.name == name && o.state == "" }); {
		case exists || version != own:
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
			f.add(o.name, "was changed", "")
		case o.remove == "":
			f.add(o.name, "was changed", statement)
		default:
			f.add(o.name, "was changed", o.remove+"; "+statement)
		}
	}
	return f.err()
}

// holdsRows reports whether an object contains data, which no statement brings back.
func holdsRows(name string) bool {
	return strings.HasPrefix(name, "table ") || strings.HasPrefix(name, "column ")
}

func (f *faults) err() error {
	if f.texts == nil {
		return nil
	}
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
	advice = append(advice, "otherwise restore a backup that you trust")
	return errors.New("its schema is not the one that this program makes: " + strings.Join(f.texts, ", ") + "; " + strings.Join(advice, "; "))
}
