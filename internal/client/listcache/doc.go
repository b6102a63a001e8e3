// Package listcache reads whole lists of the API: [Pages] iterates over all pages
// of one, and [Cache] shares one copy of a list between many readers. It sends no
// requests itself.
package listcache
