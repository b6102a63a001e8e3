// Package service is the engine of the provider's resources, data sources, list resources and actions.
// Each kind of object (mailbox, domain, ...) is a package below it.
//
// A [Definition] describes a kind once. A resource embeds [Resource] with its definition, and
// [Chain] puts the same steps around each of its calls, in chain.go, where they stand in the order of
// execution:
//
//	mailbox created   plan:  the account can be used; no other resource creates the address; the kind looks
//	                         the address up and finds nothing; the address is planned, as far as it is known
//	                  apply: deadline of timeouts; the kind sends the create; the walk records the object;
//	                         the state gets the planned values and the account
//	mailbox adopted   plan:  the lookup finds the mailbox: an error with its import block or, if on_existing
//	                         is "adopt" and no other resource has it, a warning with what changes
//	                  apply: the kind finds the mailbox again and updates it; the rest is as for a create
//	mailbox replaced  plan:  core plans twice. First for the object of the state: it is in the account of the
//	                         connection; computed values are kept; a changed argument of ReplacedBy replaces
//	                         it; the kind warns of the lost mail; the walk records it. Then a create as above
//	                  apply: the delete, which is refused for an object that this run has created or adopted,
//	                         then the create
//
// A file needs only files that stand below it here:
//
//	chain.go                       the steps around each call
//	walk.go existing.go            which resource has an object; objects that exist before their create
//	plan.go loss.go                what a plan keeps, replaces, drops and knows; what it loses
//	state_account.go import.go     the account of an object in the state; imports
//	resource.go ready.go           the base of a resource; the wait for a new object
//	data_source.go list_resource.go action.go
//	definition.go                  what describes a kind
//	scope.go domains.go            references to a domain or a workspace
//	connection.go                  the client and the walk of a provider configuration
//	identity.go private.go notes.go
//	report, attribute              failures in words; attributes and values (packages of their own)
//
// The words: a walk is one pass of core over all resources, a plan or an apply, and [session.Walk] holds
// the facts about its objects. An incident is a failure that concerns the whole connection. A valuable
// object holds mail or money. An orphan is an object that the API can't delete, so that it is only dropped
// from the state. Notes are values that calls of one walk share. A volatile attribute changes with each
// update.
//
// The package of a kind has the same files everywhere:
//
//	definition.go     the Definition; the attributes; the model, with a field for each of them, and the
//	                  bodies of requests that are made from it
//	resource.go       Create, and what the kind adds to Read, Update, Delete and ImportState
//	plan.go           ModifyPlan: warnings, and what the API changes by itself
//	action_<name>.go  an action
//
// Objects without a resource (account, billing, ...) have packages too. No kind imports another, but for
// dnszone, which imports dnsrecord. All may import the typed client, customtype, validate, and of
// apiserver the contract, vocab and the syntax packages, but not the service or the store.
package service
