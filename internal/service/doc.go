// Package service is what the provider's resources and data sources have in common:
// connection, identity, import, diagnostics at the attribute that caused them, and
// plans that are empty if nothing changes.
//
// A resource embeds [Resource] with its model and a [Definition], and [Manage]
// surrounds it with the checks that hold for every resource. Data sources and list
// resources are built from a [Collection].
//
// Each resource has a package below, with its name in the API (mailbox, domain, ...)
// and the same files:
//
//	resource.go       the resource: Create, Read, Update, Delete, ImportState
//	schema.go         its attributes
//	model.go          the model, flattened from the API's response
//	plan.go           ModifyPlan: warnings, and what the API changes by itself
//	data_source.go    the data source of one object
//	data_sources.go   the data source of all objects, and the Collection
//	list_resource.go  the list resource
//	action_<name>.go  an action
//
// Objects without a resource (account, billing, ...) have packages too. This package
// imports none of them, and they don't import each other. All may import the typed
// client, customtype, validate, the contract and the syntax packages of apiserver, and
// not its service or store. Only this package imports session.
package service
