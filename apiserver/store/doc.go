// Package store declares the persistence that the service needs: the objects, the
// filters, and the transactions with their guarantees.
//
// Package sqlstore implements it, and package storetest checks the guarantees of an
// implementation. The package knows neither SQL nor HTTP and
// imports only package vocab of this module.
//
// Stability: until 1.0 an exported name changes only with a minor version, and the changelog says so.
package store
