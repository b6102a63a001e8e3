// Package oauth validates the JWT access tokens of an OAuth 2.0 issuer for the
// service: it is the resource server of RFC 6750 and RFC 9068.
//
// A Verifier finds the issuer's keys by OpenID Connect Discovery when the first
// token comes, and asks again when a token names a key that it does not know, at
// a bounded rate. While the issuer is down, the keys that are known go on to
// hold for a time.
//
// A token holds until the instant of its exp claim, by the clock here. It may come
// up to five minutes before its nbf claim, because the issuer's clock may be ahead
// (RFC 7519, section 4.1.5). Neither may lie beyond the year 9999.
//
// The package imports apiserver for the interface that it implements, and is
// imported by programs that serve an account to people: nothing that embeds the
// service links it.
package oauth
