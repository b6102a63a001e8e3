package dnszone_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"
)

const typeName = "mailhost_dns_zone"

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// bodyOf returns the body of a request, which can be read again.
func bodyOf(t testing.TB, r *http.Request) string {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	must(t, err)
	r.Body = io.NopCloser(bytes.NewReader(body))
	return string(body)
}
