// Package client is the typed client of the account management API, for a
// Terraform provider. Client provides a method for each operation that the provider needs,
// and a [Objects] for each kind of object, to read and delete objects.
// Package transport sends the requests, package listcache reads and caches lists.
// The three may import the contract, vocab and the syntax packages of apiserver,
// never the service or its store.
//
// # Creates
//
// Every request that creates something or spends money carries an Idempotency-Key,
// the same on all attempts. An API may ignore it. If an attempt does not return the
// created object, there are three cases:
//
//   - The API did not process the request (429, no connection): package transport
//     resends it.
//   - The API refused the request (for example with 422), and certainly processed no earlier
//     attempt: the error is returned.
//   - The outcome is unknown, and a lookup follows: no response, a damaged response, a
//     proxy's page, 408, 5xx, a success without the object, or a refusal after such an
//     attempt. A 409 may come from the object that the first attempt created.
//
// The client waits as before a retry, searches the lists, and acts on the first row that
// applies:
//
//	lookup found             and                                       then
//	------------             ---                                       ----
//	one                      no secret                                 take it
//	anything                 no retry                                  fail
//	none                     not slow, or neither paid nor secret      resend
//	none                     keys                                      resend
//	one or several           keys, secret                              resend: the replay contains the secret
//	several, or it failed    keys, not paid                            resend
//	anything                                                           fail
//
//	lookup  a search of the lists for the requested object. It ignores objects known to be
//	        older than the request. For a paid create it is repeated while nothing is found: twice,
//	        or for ten minutes after a success without the object, if no retry is allowed. It
//	        fails for a change of plan and for feedback, which no list shows
//	secret  only the response to the create contains a secret: the token of a service
//	        account, or a generated password
//	paid    a purchase, a claim, a change of plan
//	retry   the outcome of the latest attempt is unknown (no response, 408, 5xx; if keys
//	        held before the lookup, also a success without the object), and the retry
//	        policy and the caller allow another attempt
//	keys    some response carried an Idempotency-Replayed header, which proves that the API
//	        honours keys. Lookups carry the key of their create to get this header
//	slow    the latest attempt took 10 seconds or more, and its outcome is unknown: the
//	        API may execute the request after the lookup
//
// If the lookup of a secret create found an object, the error is a SecretLostError. An object
// certainly not older than the request is returned too; its resource is tainted, so that the
// next plan replaces it. If the latest response is an error and the lookup found nothing, that
// error is returned; for a paid or secret create only if it is a refusal. Every other failure
// is an UnknownOutcomeError.
//
// Examples of a lost response to the first attempt:
//
//   - A mailbox: the client lists the domain's mailboxes, and takes the mailbox with the address
//     and names of the request. If there is none, it resends the request under the same key, at
//     most 8 times and for 5 minutes; a lookup follows a 409 too. If the list can't be read, it
//     resends the request only to an API known to honour keys.
//   - A domain: the client lists all domains, three times. A domain with the name counts as bought.
//     If there is none, the purchase is resent under the same key. If the list can't be read, the
//     error is an UnknownOutcomeError.
//   - After Ctrl-C or at the end of a timeout, the lookup is made within 10 seconds, and
//     nothing is resent.
//   - If the provider is killed, there is no lookup. The next run gets a 409 with the
//     advice to import or adopt the object.
//
// CreateMailboxes creates up to 1,000 mailboxes with one request, and more with several. It
// returns an outcome for each mailbox, and makes one lookup for all: the domain's list.
// Mailboxes found there are taken; for the others, the same request is resent under the same
// key. A replay contains the outcome of every mailbox. An API that ignores keys reports the
// mailboxes of the first attempt as existing, and they are taken from the lookup. An existing
// mailbox older than the request, or with other names, is a conflict.
//
// # Changes and deletes
//
// Every other change sets values or deletes, and has the same effect when it is repeated: it is
// resent after an unknown outcome without a lookup. After such an attempt, a 404 of a delete counts
// as success.
//
// # Reads
//
// A read of one object is one request. The refresh of a plan may read thousands of objects
// while nothing changes: in a context of [WithReads], these reads share a list as soon as a
// list is cheaper. Other reads, for example in an apply, each send a request.
//
// # Lifecycle operations
//
// The client needs no more than the published operations. It learns from responses
// which lifecycle operations the API lacks: an operation that returns 405, 501, or 404 for an
// object that a list still contains. Reads then come from the cached list, a create
// returns ErrCreateUnsupported, and a delete ErrDeleteUnsupported. A 404 is genuine if the
// operation succeeded before for some object.
package client
