// Package sqlstore implements package store in SQL. The same statements run on every
// engine: placeholders are $1, $2 and so on in the order of the text, times are
// microseconds since 1970 in UTC and 0 for none, ids and JSON are text. An engine's
// package has what differs: how transactions run (Engine), and the schema with a few
// words of SQL (Dialect).
//
// A table value (see table) maps a type of package store to a table, whose columns have
// the names of the fields. The functions in table.go build the statements of reads,
// creates, updates and deletions from it, and report changes to the transaction's
// observer. newKind says in which objects those of a table lie: the order of all tables (see
// Tables) and the deletion of a domain or an account follow from it. Package store documents
// the methods of reader and tx, in the file of the same name.
//
// A list is read with COUNT, LIMIT and OFFSET: the indexes of the schema have its order, and
// a search compares a column with the text in one form (see searchText). Mailboxes that no
// filter selects are not counted: mailbox_counts has their number in each domain.
//
// The package imports no driver.
//
// Stability: none. The package is exported for other packages of this repository only.
package sqlstore
