// Package transport sends requests to one account of the API. A [Call] is one request with all its attempts; [Do]
// makes a whole call. The package knows the operations of the contract, but not the objects that they change.
//
// # Attempts
//
// Each attempt has an [Outcome], which decides whether the request is resent:
//
//	response                                   outcome     resent
//	2xx                                        Succeeded   no
//	4xx, 501, 505                              Refused     no
//	wrong certificate, host or scheme          Refused     no
//	421, 425, 429, 503 with Retry-After        Busy        yes
//	409 with Retry-After, to a keyed request   Busy        yes
//	none: the request was not sent             NotSent     yes
//	408, other 5xx                             Failed      a GET, PATCH, DELETE or an export: yes
//	                                                       a keyed request: no, the caller decides
//	a redirect, or 4xx with an HTML page, but  Failed      likewise, three times
//	no 400, 401, 405, 409, 422 or 429
//	none, or it broke off                      NoResponse  like Failed
//	2xx that is damaged, or an HTML page       NoResponse  likewise; a page three times
//
// A 5xx of an embedded account is never resent: its disk is full, or its file damaged.
//
// Pages, redirects and damaged responses come from a server in front of the API, such as a proxy that
// restarts, or a cache. They prove nothing about the API.
//
// One budget limits the time of a call, from its first attempt, and RetryMax the number of attempts.
// Attempts that are Busy or NotSent don't count. Before each retry the call waits for the time in
// Retry-After, or for a random time between a ceiling, which doubles, and half of it. The caller's
// deadline ends the call earlier, and so does a lack of responses:
//
//	no connection, and the server has never responded  10 seconds
//	a GET that was sent gets no response               1 minute, unless it looks up the object of a create
//	all else                                           5 minutes
//
// With RequestsPerMinute, attempts are sent at equal intervals. The budget does not include the wait for
// the first attempt.
//
// # Outages
//
// A call that ends without a response, while no other call gets one, begins an outage: from
// then on other calls fail at once, without a request, except one attempt every 15 seconds,
// and lookups. The errors of an outage share an [Incident], as do refusals of the credential.
//
// # Messages
//
// Errors and log lines never contain a token, an Idempotency-Key, a request body, a header, or a part of a
// successful response. Errors quote the API's message about a failure, with the secrets of the request redacted.
package transport
