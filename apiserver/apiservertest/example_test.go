package apiservertest_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apiservertest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/journal"
)

// t stands for the *testing.T of your test.
var t testing.TB = new(exampleT)

type exampleT struct{ testing.TB }

func (*exampleT) Helper()                  {}
func (*exampleT) Cleanup(func())           {}
func (*exampleT) Context() context.Context { return context.Background() }
func (*exampleT) Fatal(args ...any)        { log.Panicln(args...) }

// post sends JSON and prints the status; send is any client of the API.
func post(a apiservertest.Account, path, body string) {
	resp, err := a.Client().Post(a.Path(path), "application/json", strings.NewReader(body))
	if err != nil {
		fmt.Println("no response")
		return
	}
	defer resp.Body.Close()
	fmt.Println(resp.Status)
}

func ExampleStart() {
	s := apiservertest.Start(t)

	resp, err := s.Client().Get(s.Path("/workspaces")) // or your own client, with s.URL, s.AccountID and s.Token
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	fmt.Println(resp.Status)
	// Output: 200 OK
}

// A fixture defines the initial content of the service.
func ExampleFixture() {
	s := apiservertest.Start(t, apiservertest.Fixture("testdata/account.json"))

	resp, err := s.Client().Get(s.Path("/mailboxes/jane@example.com"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	fmt.Println(s.AccountID, resp.Status)
	// Output: 0b9f4d5e-6d0c-4b7e-9a53-3f1c2d8e7a10 200 OK
}

// An API may lack the operations beyond the 22 published ones.
func ExamplePublishedOnly() {
	s := apiservertest.Start(t, apiservertest.PublishedOnly(), apiservertest.Fixture("testdata/account.json"))

	resp, err := s.Client().Get(s.Path("/mailboxes/jane@example.com"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	fmt.Println(resp.Status)
	// Output: 405 Method Not Allowed
}

func ExampleConfigure() {
	s := apiservertest.Start(t, apiservertest.Configure(func(o *apiserver.Options) {
		o.RateLimit = apiserver.RateLimit{Requests: 1, Per: time.Minute}
	}))

	post(s.Account, "/workspaces", `{"name": "Sales"}`)
	post(s.Account, "/workspaces", `{"name": "Support"}`)
	// Output:
	// 201 Created
	// 429 Too Many Requests
}

// A fault executes the request, and drops the connection before the response. The journal shows both.
func ExampleServer_faults() {
	s := apiservertest.Start(t)
	_, err := s.Faults.Add(fault.Rule{Operation: "create-workspace", Drop: fault.After, Times: 1})
	if err != nil {
		t.Fatal(err)
	}

	post(s.Account, "/workspaces", `{"name": "Sales"}`)
	post(s.Account, "/workspaces", `{"name": "Sales"}`)
	for _, e := range s.Journal.Entries(journal.Filter{Operation: "create-workspace"}) {
		fmt.Println("the service responded with", e.Status, "to", string(e.Request))
	}
	// Output:
	// no response
	// 409 Conflict
	// the service responded with 0 to {"name":"Sales"}
	// the service responded with 409 to {"name":"Sales"}
}

// The outbox contains the messages that the service would have sent. Their links work.
func ExampleServer_Outbox() {
	s := apiservertest.Start(t)
	post(s.Account, "/forwarding", `{"scope_type": "account", "target_email": "archive@example.net"}`)

	m := s.Outbox()[0]
	resp, err := http.PostForm(m.Link, url.Values{}) // the form of the page that the recipient opens
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	fmt.Println("to", m.To, resp.Status)
	// Output:
	// 201 Created
	// to archive@example.net 200 OK
}

// A link of a message expires after 72 hours.
func ExampleServer_clock() {
	s := apiservertest.Start(t)
	post(s.Account, "/forwarding", `{"scope_type": "account", "target_email": "archive@example.net"}`)

	if err := s.Clock.Advance(73 * time.Hour); err != nil {
		t.Fatal(err)
	}
	resp, err := http.Get(s.Outbox()[0].Link)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	fmt.Println(resp.Status)
	// Output:
	// 201 Created
	// 410 Gone
}

// Accounts of one service don't see each other's objects.
func ExampleServer_NewAccount() {
	s := apiservertest.Start(t)
	other := s.NewAccount(t)

	post(s.Account, "/workspaces", `{"name": "Sales"}`)
	post(other, "/workspaces", `{"name": "Sales"}`)
	// Output:
	// 201 Created
	// 201 Created
}

func ExampleAccount_ProviderConfig() {
	s := apiservertest.Start(t)

	// For a step of terraform-plugin-testing, or a file of a configuration.
	fmt.Println(s.ProviderConfig() + `
resource "mailhost_domain" "this" {
  name        = "example.com"
  on_existing = "adopt"
}`)
}
