// Mailhostd serves the account management API from a database of its own.
//
//	mailhostd init     makes an account and prints its id and a token
//	mailhostd serve    serves the API, and its reference at /docs
//	mailhostd audit    prints who changed what, and when
//	mailhostd backup   copies a database, also while it is in use
//	mailhostd openapi  prints the API's OpenAPI document
//
// Every flag can be given as an environment variable, --listen as
// MAILHOSTD_LISTEN and so on; a flag goes before its variable. What went wrong
// is one line on stderr. The exit code is 0 on success, 1 on failure and 2 for a
// command line that makes no sense.
//
// The program owns flags, listeners and signals, and nothing of the API's
// rules. It may import everything below apiserver, and is the only place that
// chooses a database engine.
package main
