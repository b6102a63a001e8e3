package control

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// The largest bodies: a fixture may hold tens of thousands of mailboxes.
const (
	maxFixtureBytes = 64 << 20
	maxBytes        = 16 << 10
)

// read returns a body that is not a fixture.
func read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBytes))
	if err == nil && !json.Valid(body) && len(bytes.TrimSpace(body)) > 0 {
		err = errors.New("the body is not JSON")
	}
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
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return invalid(fmt.Errorf("the body is not as expected: %w", err))
	}
	return nil
}
