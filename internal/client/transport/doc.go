// Package transport sends requests to one account of the API. A [Call] is one
// request with all its attempts; [Do] makes a whole call. The package knows the
// contract's operations, and nothing of the objects behind them. A file uses only files
// that are further down: send.go (a whole call), retry.go (its attempts), attempt.go
// (one of them), call.go, transport.go, and then error.go, outage.go, failure.go,
// problem.go and request.go.
//
// # Attempts
//
// Each attempt has an [Outcome], which decides whether the request is resent:
//
//	response                                   outcome     resent
//	2xx                                        Succeeded   no
//	3xx, 4xx, 501, 505                         Refused     no
//	wrong certificate, host or scheme          Refused     no
//	421, 425, 429, 503 with Retry-After        Busy        yes
//	409 with Retry-After, to a keyed request   Busy        yes
//	none: the request was not sent             NotSent     yes
//	408, other 5xx                             Failed      a GET, PATCH, DELETE or an export: yes
//	                                                       a keyed request: no, the caller decides
//	3xx, 4xx with an HTML page                 Failed      likewise, three times
//	none, or it broke off                      NoResponse  like Failed
//	2xx that can't be decoded                  NoResponse  likewise
//	2xx to another request, if it is not keyed NoResponse  likewise
//
// A 5xx of an embedded account is never resent: its disk is full, or its file damaged.
//
// The last four kinds of response come from something between here and the API, such as a
// proxy that restarts, or a cache. A response is to another request if it lacks the request's
// X-Request-Id, which this API has returned before. Pages and redirects count as such once the
// base URL has sent a response of the contract; before, it is probably wrong, and they are 2xx
// and 4xx as others are.
//
// The number of attempts, the time budget and the caller's deadline limit a call.
// Between two attempts it waits a random time between a ceiling that doubles and half of it,
// or as long as Retry-After says. Attempts that find no connection don't count.
//
// # Limits
//
// Each attempt needs a permit. Who waits for one is served in order, and can be cancelled.
// The time until the first permit is no part of a call: it takes nothing of RetryBudget.
// There is no wait while the limits are far away.
//
//	Limits.Concurrency        a permit when an attempt in flight has ended
//	Limits.RequestsPerMinute  at once up to a second's requests, and then at equal intervals
//	the API's own limit       from the RateLimit headers of its responses: at once until few
//	                          requests are left, and then the more slowly the fewer they are
//	429 with Retry-After      none until then, also for the attempts of other calls
//
// Other processes use the API's limit too. The number that is left is therefore always the
// API's, less the attempts that it may not have counted; and a 429 in spite of this reduces
// the share of it that this process takes. A 429 that does not have the headers of a used-up
// limit stops only the operation that it responds to, which may have a limit of its own.
//
// If nothing is left, the next attempt follows when a token bucket has its next token. In a
// fixed window that is too early; the 429 shows it, and from then on the attempt waits for
// the next window.
//
// # Outages
//
// A call that gets no response ends earlier:
//
//	no connection, and the server has never responded  10 seconds
//	no connection later                                RetryBudget
//	a GET was sent                                     1 minute; 2 after a response to another call;
//	                                                   3 if it looks up what a create has done
//	a request that may change something was sent       RetryBudget
//
// A GET attempt ends after ReadTimeout without a response, and every response
// after ReadTimeout in which less than 16 KiB came. A call that ends without a response, while no other
// call gets one, begins an outage: from then on other calls fail at once, without a
// request, except one attempt every 15 seconds, and lookups. The errors of an outage share an
// [Incident], as do refusals of the credential.
//
// # Messages
//
// No error and no log line has a token, an Idempotency-Key, a request body, a
// header, or a part of a successful response. Errors quote what the API says of a
// failure, with the secrets of the request redacted.
package transport
