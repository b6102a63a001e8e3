package apitest

import (
	"io"
	"net/http"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/conformance"
)

// Conforms checks the response against the contract. [Client.Do] calls it.
func (r *Response) Conforms() {
	r.T.Helper()
	e := conformance.Exchange{Request: r.Request, Status: r.Status, Header: r.Header, Body: r.Raw}
	if r.Request.GetBody != nil {
		body, err := r.Request.GetBody()
		if err == nil {
			e.RequestBody, err = io.ReadAll(body)
		}
		assert.Check(r.T, err)
	}
	check := conformance.CheckError
	// A server without lifecycle operations knows the path of none, as for a path of no operation.
	if s, ok := conformance.OperationOf(r.Request); ok && (conformance.Documents(s, r.Status) || r.Status != http.StatusNotFound && r.Status != http.StatusMethodNotAllowed) {
		check = func(e conformance.Exchange) []conformance.Difference { return conformance.Check(s, e) }
	}
	for _, d := range check(e) {
		r.T.Errorf("%s: %s", r, d)
	}
}
