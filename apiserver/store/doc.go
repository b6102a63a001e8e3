// Package store is what the service needs of persistence, in the domain's
// words: the entities, the filters, the transactions and their promises.
//
// Package storetest checks that an implementation keeps the promises; package
// sqlstore is the implementation. The package knows neither SQL nor HTTP and
// imports only package vocab of this module.
package store
