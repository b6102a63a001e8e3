// Package storetest checks that an implementation keeps the guarantees of package store.
//
// A test of an implementation calls Run with a function that opens an empty
// store. The package imports the standard library, packages store and vocab; only
// tests import it.
//
// Stability: none. The package is exported for other packages of this repository only.
package storetest
