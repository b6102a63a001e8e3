// Package sqlstore is the one implementation of package store in SQL. The same
// statements run on every engine: placeholders are $1, times are microseconds
// since 1970 in UTC and 0 for none, ids and JSON are text.
//
// What differs between engines is small and lies in their own packages: how
// transactions run (Engine), and the schema with a few words of SQL (Dialect).
// A file has the name of the one in package store whose interfaces it
// implements.
//
// The package imports the standard library, packages store and vocab, and the
// packages for the forms in which names are searched (text, domainname) and records
// compared (dnsdata). It imports no driver.
package sqlstore
