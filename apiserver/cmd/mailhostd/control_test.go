package main

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

func TestControlPlane(t *testing.T) {
	t.Parallel()
	database, owner := initialize(t)
	s := serve(t, database, "--control-listen", "0", "--public-url", "https://mail.example.org/")
	plane, _ := s.log.Wait(t, "serving the control plane")["url"].(string)
	if !strings.HasPrefix(plane, "http://127.0.0.1:") {
		t.Fatalf("the control plane's URL is %s", plane)
	}
	c := s.as(t, owner)
	var rule api.Forwarding
	c.Do(http.MethodPost, "/forwarding", `{"target_email":"a@example.org"}`).Want(http.StatusCreated).Into(&rule)
	var outbox struct {
		Items []struct{ To, Link string }
	}
	callURL(t, http.MethodGet, plane+"/outbox", "", &outbox)
	if len(outbox.Items) != 1 || outbox.Items[0].To != "a@example.org" || !strings.HasPrefix(outbox.Items[0].Link, "https://mail.example.org/verify-forwarding/") {
		t.Errorf("outbox: %+v", outbox)
	}

	callURL(t, http.MethodPost, plane+"/clock", `{"advance":"72h"}`, nil)
	c.Do(http.MethodGet, "/forwarding/"+rule.ID, nil).Want(http.StatusOK).Into(&rule)
	if rule.VerificationState != vocab.VerificationExpired {
		t.Errorf("after 72 hours the verification is %s", rule.VerificationState)
	}

	fixture, err := os.ReadFile("../../testdata/fixture.json")
	if err != nil {
		t.Fatal(err)
	}
	_, accounts, _ := strings.Cut(string(fixture), `"accounts":`)
	callURL(t, http.MethodPost, plane+"/fixture", `{"accounts":`+accounts, nil)
	if code, _, stderr := run(t, "init", "--database", database, "--account-id", "0b9f4d5e-6d0c-4b7e-9a53-3f1c2d8e7a10"); code != exitOK {
		t.Errorf("init for the account of the fixture: %s", stderr)
	}
	// The public listener does not serve the control plane.
	resp, err := http.Get(s.url + "/outbox")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("/outbox of the public listener: %s", resp.Status)
	}
}

// serveWithControl starts a server with the example fixture. It returns the URL of its
// control plane and the owner of the fixture's account.
func serveWithControl(t *testing.T) (s *testServer, plane string, owner newAccount) {
	t.Helper()
	s = serve(t, t.TempDir()+"/mailhost.db", "--control-listen", "0", "--fixture", "../../testdata/fixture.json")
	plane, _ = s.log.Wait(t, "serving the control plane")["url"].(string)
	callURL(t, http.MethodPost, plane+"/accounts", exampleAccount, &owner)
	return s, plane, owner
}

const exampleAccount = `{"account_id":"0b9f4d5e-6d0c-4b7e-9a53-3f1c2d8e7a10"}`

func TestFaultAndReset(t *testing.T) {
	t.Parallel()
	s, plane, owner := serveWithControl(t)
	c := s.as(t, owner)
	callURL(t, http.MethodPost, plane+"/faults", `{"operation":"create-workspace","drop":"after","nth":1}`, nil)
	const key = "5f0c9c52-5d0c-4c7e-9a53-3f1c2d8e7a10"
	if response, err := c.Try(t.Context(), http.MethodPost, "/workspaces", `{"name":"Lost"}`, "Idempotency-Key", key); err == nil {
		t.Errorf("the dropped request received a response: %s", response)
	}
	c.PostKeyed(key, "/workspaces", `{"name":"Lost"}`).Want(http.StatusCreated)
	var journal struct{ Items []struct{ Status int } }
	callURL(t, http.MethodGet, plane+"/journal?operation=create-workspace", "", &journal)
	if len(journal.Items) != 2 || journal.Items[0].Status != 0 || journal.Items[1].Status != http.StatusCreated {
		t.Errorf("journal: %+v", journal)
	}

	callURL(t, http.MethodPost, plane+"/reset", "", nil)
	callURL(t, http.MethodPost, plane+"/accounts", exampleAccount, &owner)
	c = s.as(t, owner)
	var page api.Page[api.Workspace]
	c.Do(http.MethodGet, "/workspaces", nil).Want(http.StatusOK).Into(&page)
	if page.Total != 2 {
		t.Errorf("%d workspaces after the reset, want the fixture's 2", page.Total)
	}
	c.Do(http.MethodGet, "/mailboxes/jane@example.com", nil).Want(http.StatusOK)
}

// TestHeldRequestsEndWithTheServer checks that a held request does not block the
// shutdown.
func TestHeldRequestsEndWithTheServer(t *testing.T) {
	t.Parallel()
	s, plane, owner := serveWithControl(t)
	c := s.as(t, owner)
	var rule struct{ ID string }
	callURL(t, http.MethodPost, plane+"/faults", `{"operation":"create-workspace","hold":"before"}`, &rule)
	statuses := make(chan int, 1)
	go func() {
		response, err := c.Try(t.Context(), http.MethodPost, "/workspaces", `{"name":"Late"}`)
		if err != nil {
			response = new(apitest.Response)
		}
		statuses <- response.Status
	}()
	callURL(t, http.MethodGet, plane+"/faults/"+rule.ID+"?held=1", "", nil)
	if code := s.end(t); code != exitOK {
		t.Errorf("exit code %d:\n%s", code, s.log)
	}
	if status := apitest.Receive(t, statuses); status != http.StatusServiceUnavailable {
		t.Errorf("the held request has status %d", status)
	}
}

func callURL(t *testing.T, method, url, body string, out any) {
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
	if resp.StatusCode >= http.StatusMultipleChoices {
		t.Fatalf("%s %s: %s", method, url, resp.Status)
	}
	if out != nil {
		if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
			t.Fatal(err)
		}
	}
}
