// Package store declares the persistence that the service needs: the objects, the
// filters, and the transactions with their guarantees.
//
// Package sqlstore implements it, and package storetest checks the guarantees of an
// implementation. The package knows neither SQL nor HTTP and
// imports only package vocab of this module.
package store
