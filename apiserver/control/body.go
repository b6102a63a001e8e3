package control

import (
	"bytes"
	"io"
	"net/http"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/strictjson"
)

// The largest bodies: a fixture may hold tens of thousands of mailboxes.
const (
	maxFixtureBytes = 64 << 20
	maxBytes        = 16 << 10
)

// read returns a body that is not a fixture.
func read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBytes))
	if err != nil {
		return nil, invalid(err)
	}
	return body, nil
}

// decode reads a JSON object strictly; no body is as good as {}.
func decode(w http.ResponseWriter, r *http.Request, v any) error {
	body, err := read(w, r)
	if err != nil || len(bytes.TrimSpace(body)) == 0 {
		return err
	}
	if err := strictjson.Unmarshal(body, v); err != nil {
		return invalid(err)
	}
	return nil
}
