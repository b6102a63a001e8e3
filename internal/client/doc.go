// Package client is the typed client of the account management API, for a
// Terraform provider. There is a method for each operation, in the file of its
// resource; everything else is generic on the contract's operation values. It
// may import the contract and the syntax packages of apiserver, never the
// service or its store.
//
// # Retries
//
// One logical call makes several attempts, bounded by a number, by a time budget
// and by the caller's deadline. Between two attempts lies a random time under a
// growing ceiling, or what Retry-After asks for. Of an attempt is known either
// its answer, or that it was not processed (429, 503 with Retry-After, no
// connection), or nothing: it is lost (connection broken, timeout, another 5xx).
// What was not processed is sent again in every case. A lost GET, PATCH or
// DELETE is too, as is the export, which changes nothing; that a repeated DELETE
// finds nothing is a success.
//
// # Creates
//
// A request that creates something carries an Idempotency-Key, the same on all
// attempts. An API may ignore it. After a lost attempt, or a success without a
// readable answer, the client therefore waits and then looks in the lists for
// what it asked for:
//
//   - It is there: it is taken.
//   - It is not there: the request is sent again with the same key, unless it was
//     accepted. What is paid for is looked for three times first.
//   - The lists can't tell, because there is none, it fails, or several objects
//     match: the request is not sent again; the error is an *UnknownOutcomeError.
//     Only an API that has proved, by an Idempotency-Replayed header on any
//     answer in the client's lifetime, that it honours keys, gets it again; and
//     not even that one where money is spent.
//
// A refusal that follows a lost attempt, such as a 409, is answered by the same
// look: what was created by the lost attempt is taken.
//
// Taking what is there would lose a secret that only the lost answer held (a
// service account's token, a generated password). Sending the same key again
// loses nothing: an API that honours it tells the secret, one that ignores it
// refuses the duplicate or makes one, which costs no money. So for these:
//
//   - The API has proved that it honours keys: the same key goes first, and the
//     look comes only after the last attempt.
//   - Otherwise the look goes first, as for everything, and without a list to
//     look at nothing is sent again. When it shows the object, the same key is
//     sent once more. A replay tells the secret. A refusal becomes a
//     *SecretLostError with the id. A second object is returned, with the id of
//     the first one as a leftover. If the answer is lost again, a further attempt
//     follows only while the looks show no more objects than before, so that at
//     most one duplicate is made.
//
// The API remembers a create of a mailbox, a forwarding rule or a DNS record whose
// response did not reach the client, and returns the object to a later run that sends
// the same request. A lookup therefore carries the Idempotency-Key of the create, so
// that the API learns that this run knows of the object.
//
// # Outages
//
// How long a call retries that gets no response depends on what is known:
//
//	no connection, and the API has never responded    10 seconds
//	no connection later                               RetryBudget
//	a GET was sent                                    1 minute
//	a request that may change something was sent      RetryBudget
//
// A GET is given up after ReadTimeout without a response, and any response after
// ReadTimeout without progress. When one call has used up its patience, an outage
// begins (see outage): other calls fail at once, without a request. Errors of one
// outage, and refusals of one credential, share an Incident.
//
// # What the API offers
//
// The client needs no more than the published operations. Of each lifecycle
// operation it learns from the answers whether the API has it: 405, 501, or 404
// for an object that a list still shows, means no. Reads then come from a list
// that all of them share (see index), a delete is ErrDeleteUnsupported. A 404 of
// an operation that has answered for some object is genuine.
//
// # Messages
//
// No error and no log line holds a token, an Idempotency-Key, a request body, a
// header, or a part of a successful answer. What the API says in an error is
// quoted, with every secret of that request taken out.
package client
