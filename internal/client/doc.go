// Package client is the typed client of the account management API, for a
// Terraform provider. It has a method for each operation that the provider needs.
// Package transport sends the requests, package listcache reads and caches lists.
// The three may import the contract, vocab and the syntax packages of apiserver,
// never the service or its store. A file uses only files that are further down:
//
//	mailbox.go, domain.go, …  the methods for each kind of object
//	scope.go                  the scope of a forwarding rule or a master password
//	purchase.go               purchases of domains
//	mailbox_wait.go           creates of single mailboxes that wait for a limit
//	client.go                 Client, and the declaration of each kind
//	batch.go                  calls that are joined into one request
//	mailbox_bulk.go           many mailboxes with one request
//	create.go                 creates: everything that is described below
//	kind.go                   read, update and delete one object
//	list.go                   lists
//	operation.go              a call; which operations this API has
//	errors.go                 the errors of a call
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
//   - All else enters the table: no response, a damaged one or a proxy's page, 408, 5xx, a
//     success without the object, and a refusal after an attempt of these. A 409, for instance, may come from the
//     object that the first attempt has created.
//
// The first row that applies decides. The same rows are decisionTable in create.go.
//
//	lookup found            and                        then
//	------------            ---                        ----
//	(not made)              secret, keys, retry        resend: the replay has the secret
//	(not made)                                         look up
//	one                     no secret                  take it
//	one, several            secret, keys, retry        resend: the replay has the secret
//	one, several            secret                     SecretLostError
//	none                    once, slow, not keys       UnknownOutcomeError
//	none                    retry                      resend
//	none                    no response, or a success  UnknownOutcomeError
//	                        without the object
//	none                    408, 429 or 5xx, paid      UnknownOutcomeError
//	none                                               the error of the latest attempt
//	several (or it failed)  keys, retry, not paid      resend
//	several (or it failed)                             UnknownOutcomeError
//
//	lookup  a search of the lists for what was requested. It ignores objects that are
//	        known to be older than the request. A paid create is searched for up to
//	        three times while nothing is found.
//	retry   the outcome of the latest attempt is unknown (no response, 408, 5xx; with
//	        keys also a success without the object), and the retry policy and the caller
//	        allow another attempt, for whose time the client has waited
//	keys    some response had an Idempotency-Replayed header, which proves that the API
//	        honours keys. The response to a lookup has it too
//	secret  the response has a secret that the lists do not have: the token of a
//	        service account, a generated password
//	paid    a purchase, a claim, a change of plan
//	once    a purchase, a claim, or a service account: without keys, a second request
//	        could create a second one
//	slow    the latest attempt took 10 seconds or more, and its outcome is unknown: the
//	        API may execute the request after the lookup
//
// If several objects are found, only a key that is certainly honoured prevents a
// duplicate, and even that is not relied on if it costs money. A lost secret is requested
// once more if the replay has it. With an API that ignores keys it is lost for good: the
// error comes with the object, if that is certainly not older than the request, and its
// resource is tainted, so that the next plan replaces it.
//
// For example, the response to the first attempt is lost, and then:
//
//   - A mailbox: the client waits as before a retry, and lists the domain's mailboxes.
//     The one with the address and names of the request is taken. If there is none, the
//     request is resent under the same key, at most 8 times and for 5 minutes; a 409 is
//     then looked up as well. In the end the error is an UnknownOutcomeError if there
//     was no response, and otherwise the API's. If the list can't be read, the request
//     is resent only to an API that has proved that it honours keys.
//   - A domain: the client waits, and lists all domains, three times. One with the name
//     counts as bought. If there is none, the purchase is resent under the same key. In
//     the end, and if the list can't be read, the error is an UnknownOutcomeError.
//   - After Ctrl-C or at the end of a timeout, the lookup is made within 10 seconds, and
//     nothing is resent.
//   - If the provider is killed, nobody looks anything up. The next run sends the same
//     request under another key, and the API responds with a 409, whose advice is to import
//     the object.
//
// CreateMailboxes creates up to 1,000 mailboxes with one request, and more with several.
// Each mailbox has its own outcome, and the table decides for each of them, with one
// lookup for all: the domain's list. What the lookup finds is taken. For the rest, the
// same request is resent under the same key. A replay has the outcome of every mailbox.
// An API that ignores keys reports those of the first attempt as existing, and they are
// taken from the lookup. A mailbox that exists but is older than the request, or has other
// names, is a conflict. The second of two mailboxes with one address in a call fails, so
// that no object ever has two owners.
//
// CreateMailbox sends a request for its mailbox alone if it has a permit at once (package
// transport). If it has to wait, it joins the creates of the same domain that wait too, and
// whatever has joined when the permit comes is sent as one bulk request. There is no time in
// which a create waits only for others, with one exception: right after a bulk request its
// callers are expected back, for three times as long as the limit needs for a request. Each
// create has the outcome and the errors that it would have alone; an interrupted one is not
// resumed by a later run, because the API resumes single creates only. One that is cancelled
// while it waits leaves the others. After the request was sent it waits for its outcome, and
// the request ends early only if all of its creates are cancelled.
//
// PurchaseDomain sends the purchases with one contact and workspace together. It waits until
// no further one has come for 200 milliseconds; a purchase takes seconds anyway. A purchase
// has a key of its own, and each domain in it its own outcome:
//
//   - A domain that the API refuses does not concern the others. If the API refuses the
//     request as a whole (400, 409, 413, 422), it has bought nothing, and each domain is
//     requested alone.
//   - After a lost response, each domain is looked up. If the account owns none of them, the
//     same request is resent under its key, as for one domain. If it owns some, those count as
//     bought, and the request is resent only to an API that has proved that it honours keys:
//     the replay has the outcome of the others. Without the proof, their outcome is unknown.
//   - Ctrl-C ends the request when all of its callers have given up. Each gets the domain
//     that the lookup finds for it.
//
// # Reads
//
// A read of one object is one request. The refresh of a plan reads thousands, ten at a
// time: in a context of [WithSharedReads] they share a list instead, as soon as that is
// cheaper. [listcache.Shared] has the rule for what such a read may return. Everything
// else, such as the reads of an apply, is requested anew.
//
// # Lifecycle operations
//
// The client needs no more than the published operations. It learns from responses
// which lifecycle operations the API has: 405, 501, or 404 for an object that a
// list still has, mean that it lacks one. Reads then come from the cached list, and
// a delete is ErrDeleteUnsupported. A 404 of an operation that has responded for
// some object is genuine.
package client
