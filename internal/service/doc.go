// Package service is what the provider's resources and data sources have in common:
// connection, identity, import, diagnostics at the attribute that caused them, and
// plans that are empty if nothing changes.
//
// A [Definition] describes a kind of object once, for its resource, its data sources
// and its list resource. The resource embeds [Resource] with the definition, and
// [Manage] makes a resource of the framework of it, with the steps and checks that all
// have: a kind's Create, Update and so on get the client and their models. A computed attribute and
// its description follow from the contract, plan modifiers from the schema (planned), and
// the values of a model from the names of fields ([Flatten]).
//
// Each kind has a package below, with its name in the API (mailbox, domain, ...) and
// the same files:
//
//	definition.go     the Definition; the attributes; the model, which has a field for each of
//	                  them, and the bodies of requests that are made from it
//	resource.go       Create, and what the kind adds to Read, Update, Delete and ImportState
//	plan.go           ModifyPlan: warnings, and what the API changes by itself
//	action_<name>.go  an action
//
// Objects without a resource (account, billing, ...) have packages too. This package
// imports none of them, and of them only dnszone imports another, dnsrecord. All may import the typed
// client, customtype, validate, and of apiserver the contract, vocab and the syntax
// packages, but not the service or the store.
package service
