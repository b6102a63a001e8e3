// Package client is the typed client of the account management API, for a
// Terraform provider. It has a method for each operation that the provider needs.
// Package transport sends the requests, package listcache reads and caches lists.
// The three may import the contract and the syntax packages of apiserver, never
// the service or its store.
//
// # Creates
//
// Every request that creates something or spends money carries an Idempotency-Key,
// the same on all attempts. An API may ignore it. The table below says what happens
// if no response has the created object. The function decide evaluates it row by
// row; the first row that applies decides. These are its terms:
//
//	lookup  a search of the lists for what was requested, after the usual wait. It
//	        ignores objects that are known to be older than the request. For a paid
//	        create it is made up to three times while it finds nothing.
//	retry   the outcome of the latest attempt is unknown (no response, 408, 5xx), and
//	        the retry policy and the caller allow another attempt
//	keys    some response had an Idempotency-Replayed header, which proves that the
//	        API honours keys
//	secret  the response has a secret that the lists do not have: the token of a
//	        service account, a generated password
//	paid    a purchase, a claim, a change of plan
//	more    the lookup found more objects than the one before the latest attempt
//
//	lookup found        and                        then
//	------------        ---                        ----
//	(not made)          secret, keys, retry        resend: the replay has the secret
//	(not made)                                     look up
//	one                 no secret                  take it
//	one, several        secret, retry              resend, for the secret
//	one, several, more  secret                     SecretLostError
//	none                retry                      resend
//	none                no response, or a success  UnknownOutcomeError
//	                    without the object
//	none                408 or 5xx, paid           UnknownOutcomeError
//	none                                           the error of the latest attempt
//	several (or failed) keys, retry, not paid      resend
//	several (or failed)                            UnknownOutcomeError
//
// The table is entered after a success that has no object, and after a failure if
// the outcome of any attempt is unknown. A 409 that follows a lost response is
// therefore looked up too: it may come from the first attempt. All other failures,
// such as 422, are returned at once, and requests that were not processed (429, no
// connection) are resent by package transport.
//
// If the secret is requested once more, a replay has it, and a 409 of an API that
// keeps names unique leads to a SecretLostError. An API that does neither makes a
// duplicate, which is returned with the id of the first object as a leftover.
//
// The API resumes a create whose response did not reach the client, for instance
// because the run was killed: it returns the object to a later run that sends the
// same request, with an Idempotency-Resumed header. A lookup carries the key of the
// create in Idempotency-Lookup, because the API must not do so for an object that
// this run knows of.
//
// # Lifecycle operations
//
// The client needs no more than the published operations. It learns from responses
// which lifecycle operations the API has: 405, 501, or 404 for an object that a
// list still has, mean that it lacks one. Reads then come from the cached list, and
// a delete is ErrDeleteUnsupported. A 404 of an operation that has responded for
// some object is genuine.
package client
