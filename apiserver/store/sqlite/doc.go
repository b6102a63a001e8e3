// Package sqlite keeps a store in an SQLite file: it opens the file, runs the
// transactions of package sqlstore in it, and makes backups.
//
// Several processes may have one file open. In each of them one goroutine writes
// for all callers and lets the updates that wait share a commit, since a commit
// is what costs time; readers work on snapshots and wait for nobody.
//
// The package imports the driver modernc.org/sqlite, package sqlstore and
// package store. Nothing else in the module imports the driver.
package sqlite
