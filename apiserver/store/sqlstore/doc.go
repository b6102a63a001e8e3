// Package sqlstore implements package store in SQL. The same statements run on every
// engine: placeholders are $1, $2 and so on in the order of the text, times are
// microseconds since 1970 in UTC and 0 for none, ids and JSON are text. An engine's
// package provides the rest: the transactions (Engine), and the schema with a few
// words of SQL (Dialect).
//
// A table value (see table) maps the fields of a type of package store to the columns of a
// table. The functions in table.go build the statements of reads, creates, updates and
// deletions from it, and report changes to the transaction's observer. newKind declares the
// parent of a table's objects: the order of all tables (see Tables) and the deletion of a
// domain or an account follow from it. Package store documents the methods of reader and tx,
// in the file of the same name.
//
// A list is read with COUNT, LIMIT and OFFSET, in the order of an index of the schema, and a
// search compares the column and the term in one form (see searchText). For a list of mailboxes
// without a filter, mailbox_counts stores the number in each domain, so that no rows are counted.
//
// The package imports no driver.
//
// Stability: none. The package is exported for other packages of this repository only.
package sqlstore
