package serve_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

func TestControlPlane(t *testing.T) {
	t.Parallel()
	database, owner := mailhostdtest.Initialize(t)
	s := mailhostdtest.Serve(t, database, "--control-listen", "0", "--public-url", "https://mail.example.org/")
	plane, _ := s.Log.Wait(t, "serving the control plane")["url"].(string)
	if !strings.HasPrefix(plane, "http://127.0.0.1:") {
		t.Fatalf("the control plane's URL is %s", plane)
	}
	c := s.As(t, owner)
	var rule api.Forwarding
	c.Do(http.MethodPost, "/forwarding", `{"target_email":"a@example.org"}`).Want(http.StatusCreated).Into(&rule)
	var outbox struct {
		Items []struct{ To, Link string }
	}
	mailhostdtest.CallURL(t, http.MethodGet, plane+"/outbox", "", &outbox)
	if len(outbox.Items) != 1 || outbox.Items[0].To != "a@example.org" || !strings.HasPrefix(outbox.Items[0].Link, "https://mail.example.org/verify-forwarding/") {
		t.Errorf("outbox: %+v", outbox)
	}

	mailhostdtest.CallURL(t, http.MethodPost, plane+"/clock", `{"advance":"72h"}`, nil)
	c.Do(http.MethodGet, "/forwarding/"+rule.ID, nil).Want(http.StatusOK).Into(&rule)
	if rule.VerificationState != vocab.VerificationExpired {
		t.Errorf("after 72 hours the verification is %s", rule.VerificationState)
	}

	fixture, err := os.ReadFile(mailhostdtest.FixturePath)
	if err != nil {
		t.Fatal(err)
	}
	_, accounts, _ := strings.Cut(string(fixture), `"accounts":`)
	mailhostdtest.CallURL(t, http.MethodPost, plane+"/fixture", `{"accounts":`+accounts, nil)
	if code, _, stderr := mailhostdtest.Run(t, "init", "--database", database, "--account-id", "0b9f4d5e-6d0c-4b7e-9a53-3f1c2d8e7a10"); code != cli.ExitOK {
		t.Errorf("init for the account of the fixture: %s", stderr)
	}
	// The public listener does not serve the control plane.
	if status, _ := mailhostdtest.Fetch(t, http.MethodGet, s.URL+"/outbox"); status != http.StatusNotFound {
		t.Errorf("/outbox of the public listener: %d", status)
	}
}

// TestHeldRequest checks that a request that a fault holds does not block the shutdown.
func TestHeldRequest(t *testing.T) {
	t.Parallel()
	s, plane, owner, _ := mailhostdtest.ServeWithControl(t)
	c := s.As(t, owner)
	var rule struct{ ID string }
	mailhostdtest.CallURL(t, http.MethodPost, plane+"/faults", `{"operation":"create-workspace","hold":"before"}`, &rule)
	statuses := make(chan int, 1)
	go func() {
		response, err := c.Try(t.Context(), http.MethodPost, "/workspaces", `{"name":"Late"}`)
		if err != nil {
			response = new(apitest.Response)
		}
		statuses <- response.Status
	}()
	mailhostdtest.CallURL(t, http.MethodGet, plane+"/faults/"+rule.ID+"?held=1", "", nil)
	if code := s.End(t); code != cli.ExitOK {
		t.Errorf("exit code %d:\n%s", code, s.Log)
	}
	if status := apitest.Receive(t, statuses); status != http.StatusServiceUnavailable {
		t.Errorf("the held request has status %d", status)
	}
}
