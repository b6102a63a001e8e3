// Package service is the engine of the provider's resources, data sources, list resources, ephemeral
// resources and actions. Each kind of object (mailbox, domain, ...) is a package below it.
//
// A [Definition] describes a kind once. A resource embeds [Resource] with its definition, and [Chain] puts
// the same steps around each of its calls; chain.go lists them in the order of execution. Core calls
// ModifyPlan in the plan, and once more in the apply before a Create or an Update. It plans a replacement
// twice, as a change and then as a create, and shows no warnings of the second plan. So a mailbox is
//
//	created    ModifyPlan  recordPlannedCreate: no other resource creates the address; checkCredential;
//	                       WarnMissingDomain; the kind looks the address up and finds nothing; reportLosses;
//	                       planValues: the address and what else is known; recordLookup
//	           Create      withTimeout; the kind sends the request and waits (AwaitReady); SetCreated;
//	                       recordAcquired; keepPlanned; storeAccount
//	adopted    ModifyPlan  as above, but the lookup finds the mailbox, and AdoptOrRefuse warns with what changes
//	                       if on_existing is "adopt" and no other resource has it; otherwise it is an error
//	           Create      the kind finds the mailbox again and updates its names; the rest as above
//	changed    ModifyPlan  checkStateAccount; keepComputed; planReplacement; DropEmptyUpdate; the kind;
//	                       reportLosses: the warnings of losses that the kind returns; recordChange
//	           Update      checkStateAccount; the kind sends what changed; keepPlanned; storeAccount
//	replaced   ModifyPlan  as for changed, where planReplacement replaces it and reportLosses warns of
//	                       the lost mail; then as for created
//	           Delete, Create
//	destroyed  ModifyPlan  checkStateAccount; reportLosses warns of the lost mail or, if the API can't
//	                       delete it, of the orphan; recordChange
//	           Delete      checkStateAccount; mayDelete: not if this run has created or adopted it; the
//	                       kind deletes it, or warnOrphan; recordDropped
//	read       Read        checkStateAccount; the kind reads it; recordRead; storeAccount
//
// Each call ends with the connection errors of the package report. To add
//
//	a loss or a purchase     to one kind: its Losses; to all: loss.go, which makes warnings and errors of them
//	a step around each call  to the six methods of chain.go; data sources, lists and actions have their own
//	a computed attribute     to the response of the contract and the model; a value that an update changes
//	                         to Volatile, and one that follows from arguments to PlannedValues
//
// A file needs only files that stand below it here:
//
//	chain.go                       the steps around each call
//	walk.go existing.go            which resource has an object; objects that exist before their create
//	rules.go                       the forwarding rules to an address that a plan deletes
//	plan.go loss.go                what a plan keeps, replaces, drops and knows; what it loses
//	state_account.go import.go     the account of an object in the state; imports
//	create.go resource.go          what the Create of a kind needs; the base of a resource
//	data_source.go list_resource.go action.go ephemeral.go
//	definition.go                  what describes a kind
//	scope.go domains.go            references to a domain or a workspace
//	targets.go                     rules to mailboxes of the same apply
//	connection.go                  the client and the walk of a provider configuration
//	identity.go private.go notes.go
//	report, attribute              packages: failures in words; attributes and values
//
// The words: a walk is one pass of core over all resources, a plan or an apply, and [session.Walk] holds
// the facts about its objects. An incident is a failure that concerns the whole connection. A valuable
// object holds mail or money. An orphan is an object that the API can't delete, so that it is only dropped
// from the state. Notes are values that calls of one walk share. An update may change a volatile attribute.
//
// A kind has definition.go (the Definition, the attributes, the model and the bodies of requests that are
// made from it), resource.go (Create, and additions to Read, Update, Delete and ImportState), plan.go
// (ModifyPlan and losses, or loss.go) and action_<name>.go. Objects without a resource, such as the account, have packages too. No
// kind imports another, but for dnszone, which imports dnsrecord. Nothing here imports the service or the
// store of apiserver.
package service
