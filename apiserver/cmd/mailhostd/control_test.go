package main

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

func TestControlPlane(t *testing.T) {
	t.Parallel()
	database, owner := initialize(t)
	s := serve(t, database, "--control-listen", "0", "--public-url", "https://mail.example.org/")
	plane, _ := s.log.wait(t, "serving the control plane")["url"].(string)
	if !strings.HasPrefix(plane, "http://127.0.0.1:") {
		t.Fatalf("the control plane is at %s", plane)
	}
	c := s.as(t, owner)
	var rule api.Forwarding
	c.must(t, http.StatusCreated, http.MethodPost, "/forwarding", `{"target_email":"a@example.org"}`, &rule)
	var outbox struct {
		Items []struct{ To, Link string }
	}
	ask(t, http.MethodGet, plane+"/outbox", "", &outbox)
	if len(outbox.Items) != 1 || outbox.Items[0].To != "a@example.org" || !strings.HasPrefix(outbox.Items[0].Link, "https://mail.example.org/verify-forwarding/") {
		t.Errorf("outbox: %+v", outbox)
	}

	ask(t, http.MethodPost, plane+"/clock", `{"advance":"72h"}`, nil)
	c.must(t, http.StatusOK, http.MethodGet, "/forwarding/"+rule.ID, "", &rule)
	if rule.VerificationState != api.VerificationExpired {
		t.Errorf("after 72 hours the verification is %s", rule.VerificationState)
	}

	fixture, err := os.ReadFile("../../testdata/fixture.json")
	if err != nil {
		t.Fatal(err)
	}
	_, accounts, _ := strings.Cut(string(fixture), `"accounts":`)
	ask(t, http.MethodPost, plane+"/fixture", `{"accounts":`+accounts, nil)
	if code, _, stderr := run(t, "init", "--database", database, "--account-id", "0b9f4d5e-6d0c-4b7e-9a53-3f1c2d8e7a10"); code != exitOK {
		t.Errorf("init for the account of the fixture: %s", stderr)
	}
	// It is not on the public listener.
	resp, err := http.Get(s.url + "/outbox")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("/outbox of the public listener: %s", resp.Status)
	}
}

func ask(t *testing.T, method, url, body string, out any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %s", method, url, resp.Status)
	}
	if out != nil {
		if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
			t.Fatal(err)
		}
	}
}
