// Package store declares the persistence that the service needs: the objects, the filters, and
// the transactions with their guarantees. Package sqlstore implements it, and package storetest
// checks an implementation.
//
// Stability: until 1.0 an exported name changes only with a minor version, and the changelog
// says so.
package store
