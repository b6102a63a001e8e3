// Package client is the typed client of the account management API, for a
// Terraform provider. It has a method for each operation that the provider needs, and a
// [Kind] of object for those that read or delete one.
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
//   - The API has not processed the request (429, no connection): package transport
//     resends it.
//   - The API has refused the request (such as 422), and no earlier attempt may have
//     been processed: the error is returned.
//   - All else is looked up: no response, a damaged one or a proxy's page, 408, 5xx, a
//     success without the object, and a refusal after an attempt of these. A 409, for
//     instance, may come from the object that the first attempt has created.
//
// The client waits as before a retry, searches the lists, and does what the first row says that
// applies:
//
//	lookup found             and                                       then
//	------------             ---                                       ----
//	one                      no secret                                 take it
//	anything                 no retry                                  fail
//	none                     not slow, or neither paid nor secret      resend
//	none                     keys                                      resend
//	one or several           keys, secret                              resend: the replay has the secret
//	several, or it failed    keys, not paid                            resend
//	anything                                                           fail
//
//	lookup  a search of the lists for what was requested. It ignores objects that are
//	        known to be older than the request. A paid create is searched for up to
//	        three times while nothing is found.
//	secret  the response has a secret that the lists do not have: the token of a
//	        service account, a generated password
//	paid    a purchase, a claim, a change of plan
//	retry   the outcome of the latest attempt is unknown (no response, 408, 5xx; if keys
//	        held before the lookup, also a success without the object), and the retry
//	        policy and the caller allow another attempt
//	keys    some response had an Idempotency-Replayed header, which proves that the API
//	        honours keys. Lookups carry the key of their create, so that they show it
//	slow    the latest attempt took 10 seconds or more, and its outcome is unknown: the
//	        API may execute the request after the lookup
//
// A failure is a SecretLostError if an object with a secret was found: it comes with the object,
// if that is certainly not older than the request, and its resource is tainted, so that the next
// plan replaces it. It is the API's own error if the API has sent one, and nothing was found that
// costs money or has a secret. All else is an UnknownOutcomeError.
//
// For example, the response to the first attempt is lost, and then:
//
//   - A mailbox: the client lists the domain's mailboxes. The one with the address and names of
//     the request is taken. If there is none, the request is resent under the same key, at most
//     8 times and for 5 minutes; a 409 is then looked up as well. If the list can't be read, the
//     request is resent only to an API that has proved that it honours keys.
//   - A domain: the client lists all domains, three times. One with the name counts as bought. If
//     there is none, the purchase is resent under the same key. If the list can't be read, the
//     error is an UnknownOutcomeError.
//   - After Ctrl-C or at the end of a timeout, the lookup is made within 10 seconds, and
//     nothing is resent.
//   - If the provider is killed, nobody looks anything up. The next run gets a 409, whose
//     advice is to import or adopt the object.
//
// CreateMailboxes creates up to 1,000 mailboxes with one request, and more with several.
// Each mailbox has its own outcome, and there is one lookup for all: the domain's list. What
// the lookup finds is taken. For the rest, the same request is resent under the same key. A
// replay has the outcome of every mailbox. An API that ignores keys reports those of the first
// attempt as existing, and they are taken from the lookup. A mailbox that exists but is older
// than the request, or has other names, is a conflict.
//
// # Reads
//
// A read of one object is one request. The refresh of a plan may read thousands, during
// which nothing is changed: in a context of [WithReads] they share a list as soon as that is
// cheaper. Everything else, such as the reads of an apply, is requested anew.
//
// # Lifecycle operations
//
// The client needs no more than the published operations. It learns from responses
// which lifecycle operations the API has: 405, 501, or 404 for an object that a
// list still has, mean that it lacks one. Reads then come from the cached list, a create
// is ErrCreateUnsupported, and a delete is ErrDeleteUnsupported. A 404 of an operation that
// has responded for some object is genuine.
package client
