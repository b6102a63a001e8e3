// Package route finds out where a request leads to, for handlers that answer by
// themselves where a http.ServeMux would answer in text.
//
// The package imports the standard library alone.
package route
