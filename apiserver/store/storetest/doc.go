// Package storetest checks that an implementation keeps the guarantees of package store that
// its callers can't see one by one: transactions, snapshots, order, and what runs at the same
// time. What the methods return is checked by the tests of the API and by package modeltest,
// on each engine.
//
// A test of an implementation calls Run with a function that opens an empty
// store. Only tests import the package.
//
// Stability: none. The package is exported for other packages of this repository only.
package storetest
