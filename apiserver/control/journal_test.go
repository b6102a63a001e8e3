package control_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/journal"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// recorded returns the journal's entries of an operation.
func (h *harness) recorded(operation string) []journal.Entry {
	return h.plane.Journal.Entries(journal.Filter{Operation: operation})
}

func TestJournal(t *testing.T) {
	t.Parallel()
	both(t, func(h *harness, c caller) {
		h.advance(time.Hour)
		a := c.must("POST", "/workspaces", `{"name":"Sales","n":1e3}`, "Idempotency-Key", key, "X-Request-Id", "mine")
		entries := h.recorded("create-workspace")
		assert.Assert(t, len(entries) == 1, "%d entries", len(entries))
		e := entries[0]
		if e.Seq != 1 || e.RequestID != "mine" || e.Method != "POST" || e.Path != "/v1/public/accounts/"+accountID+"/workspaces" || e.AccountID != accountID ||
			e.Credential != journal.ServiceAccount || e.IdempotencyKey != "71358cc2eb29" || e.Status != 201 || e.Fault != "" || e.Milliseconds <= 0 {
			t.Errorf("%+v", e)
		}
		until := time.Until(e.Time)
		assert.Check(t, until >= 59*time.Minute && until <= time.Hour, "recorded time %s", e.Time)
		assert.Check(t, string(e.Request) == `{"n":1e3,"name":"Sales"}` && e.RequestOmitted == "", "request %s %s", e.Request, e.RequestOmitted)
		var sent, kept map[string]any
		a.json(t, &sent)
		err := json.Unmarshal(e.Response, &kept)
		assert.Check(t, err == nil && fmt.Sprint(sent) == fmt.Sprint(kept), "response %s, want %s", e.Response, a.body)
	})
}

func TestJournalHoldsNoSecret(t *testing.T) {
	t.Parallel()
	both(t, func(h *harness, c caller) {
		const hunter = "hunter2-hunter2"
		var secrets []string
		secret := func(method, path, body, member string, headers ...string) {
			t.Helper()
			var result map[string]any
			a := c.do(method, path, body, headers...)
			a.json(t, &result)
			if s, ok := result[member].(string); ok && a.status < 300 {
				secrets = append(secrets, s)
			} else if member != "" {
				t.Fatalf("%+v", a)
			}
		}
		secret("POST", "/auth/service-accounts", `{"name":"ci"}`, "token", "Idempotency-Key", key)
		secret("POST", "/credentials", `{"name":"generated","generate":true}`, "generated_secret")
		for _, body := range []string{
			`{"name":"own","value":"` + hunter + `"}`, `{"name":"other case","VALUE":"` + hunter + `"}`, `{"name":"wrong type","value":["` + hunter + `"]}`,
			`{"name":7,"value":{"a":"` + hunter + `"}}`, `{"name":"cut off","value":"` + hunter + `"`, `"` + hunter + `"`, `{"Token":"` + hunter + `"}`,
			`{"name":"large","value":"` + hunter + `","more":"` + strings.Repeat("x", 70<<10) + `"}`,
			`{"name":"` + c.Token + `"}`,
		} {
			secret("POST", "/credentials", body, "")
		}
		secret("POST", "/credentials", "value="+hunter, "", "Content-Type", "application/x-www-form-urlencoded")
		secret("GET", "/credentials?access_token="+hunter+"&search=x&token="+hunter+"&to%6ben="+hunter+"&search="+c.Token, "", "")
		for _, begin := range []string{"mhsa%5F", "%6dhsa_", "mhsa%255F", "a%20mhsa%5F", "%mhsa%5F"} {
			secret("GET", "/workspaces?search="+begin+hunter, "", "")
			secret("GET", "/workspaces?"+begin+hunter+"=x", "", "")
		}
		secret("GET", "/workspaces?search=%25", "", "")
		secret("GET", "/workspaces?search=%65yJhbGciOiJub25lIn0%2Ee30%2E"+hunter, "", "")
		secret("POST", "/forwarding", `{"target_email":"a@example.org"}`, "")
		c.Domain("example.com")
		c.must("POST", "/dns-records", `{"domain":"example.com","name":"www","type":"A","value":"192.0.2.1"}`)
		e := h.recorded("create-dns-record")[0]
		assert.Check(t, strings.Contains(string(e.Request), "192.0.2.1") && strings.Contains(string(e.Response), "192.0.2.1"), "the values of DNS records are public, and not redacted: %+v", e)
		link := h.service.Outbox()[0].Link
		code := link[strings.LastIndexByte(link, '/')+1:]
		for _, path := range []string{"/verify-forwarding/" + code, "/verify-forwarding/" + code + "/", "//verify-forwarding/" + code, "/Verify-Forwarding/" + code} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.URL+path, nil)
			assert.NilError(t, err)
			c.send(r)
		}
		text := h.raw("GET", "/journal", "").Body.String()
		for _, s := range append(secrets, hunter, code, c.Token, key, "jane@example.net", "+4922112345") {
			assert.Check(t, !strings.Contains(text, s), "the journal holds %q", s)
		}
		for _, part := range []string{`"value":"[redacted]"`, `"contact_info":"[redacted]"`, `"generated_secret":"[redacted]"`, `"/verify-forwarding/[redacted]"`, `"name":"own"`, "search=x", `"search=%25"`} {
			assert.Check(t, strings.Contains(text, part), "the journal lacks %s", part)
		}
	})
}

func TestJournalOmitsBodies(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	c := h.inProcess
	c.must("POST", "/mailboxes/export", `{}`)
	e := h.recorded("export-mailboxes")[0]
	assert.Check(t, e.Response == nil && e.ResponseOmitted != "" && string(e.Request) == `{}`, "%+v", e)
	c.do("POST", "/workspaces", `{"name":`)
	e = h.recorded("create-workspace")[0]
	assert.Check(t, e.Request == nil && e.RequestOmitted != "" && e.Status == 422 && e.Response != nil, "%+v", e)
	c.do("POST", "/feedback", `{"title":"`+strings.Repeat("x", 70<<10)+`"}`)
	e = h.recorded("submit-feedback")[0]
	assert.Check(t, e.Request == nil && strings.Contains(e.RequestOmitted, "64 KiB"), "%+v", e)
}

func TestJournalNamesFaults(t *testing.T) {
	t.Parallel()
	both(t, func(h *harness, c caller) {
		for _, r := range []fault.Rule{
			{Status: 503}, {Drop: fault.Before}, {Drop: fault.After}, {Truncate: new(3)},
		} {
			r.Operation, r.Times = "create-workspace", 1
			r.Body = map[string]any{"name": new("Sales")} // unlike the type in a decoded request body
			h.add(r)
		}
		for range 5 {
			c.do("POST", "/workspaces", `{"name":"Sales"}`)
		}
		var got []string
		for _, e := range h.recorded("create-workspace") {
			got = append(got, fmt.Sprintf("%s %d %s", e.Fault, e.Status, e.ResponseOmitted))
			assert.Check(t, string(e.Request) == `{"name":"Sales"}`, "%s: request %s", e.Fault, e.Request)
		}
		want := "[f1 503  f2 0  f3 0  f4 409 it is not complete JSON  409 ]"
		assert.Check(t, fmt.Sprint(got) == want, "got  %v\nwant %s", got, want)
	})
}

func TestJournalCredentials(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for _, authorization := range []string{"", "Basic eDp5", "bearer  mhsa_x_y", "Bearer eyJhbGciOiJub25lIn0.e30.x"} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", "http://in.process/v1/public/accounts/"+accountID+"/domains", nil)
		assert.NilError(t, err)
		r.Header.Set("Authorization", authorization)
		for _, client := range []*http.Client{h.service.Client(), h.service.OwnerClient(accountID)} {
			resp, err := client.Do(r)
			assert.NilError(t, err)
			_, err = io.Copy(io.Discard, resp.Body)
			assert.NilError(t, err)
			_ = resp.Body.Close()
		}
	}
	var got []string
	for _, e := range h.recorded("list-domains") {
		got = append(got, e.Credential)
	}
	want := "[none owner none owner service_account owner access_token owner]"
	assert.Check(t, fmt.Sprint(got) == want, "got %v, want %s", got, want)
}

func TestJournalOverHTTP(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	c := h.inProcess
	c.must("GET", "/domains", "")
	c.must("GET", "/workspaces", "")
	c.do("GET", "/workspaces/x", "")
	c.must("GET", "/domains", "")
	if resp, err := c.HTTP.Get("http://in.process/healthz/live"); err != nil || resp.Body.Close() != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		"": "[1 2 3 4]", "?operation=list-domains": "[1 4]", "?status=422": "[3]", "?since=2": "[3 4]", "?since=4": "[]",
		"?operation=list-domains&since=1&status=200": "[4]",
	} {
		result := h.want(200, "GET", "/journal"+query, "")
		got := []any{}
		for _, item := range result["items"].([]any) {
			got = append(got, item.(map[string]any)["seq"])
		}
		assert.Check(t, fmt.Sprint(got) == want && result["last_seq"] == 4.0, "%s: %v up to %v, want %s", query, got, result["last_seq"], want)
	}
	for _, query := range []string{"?status=x", "?since=x"} {
		h.want(422, "GET", "/journal"+query, "")
	}
	h.want(204, "DELETE", "/journal", "")
	c.must("GET", "/domains", "")
	items := h.want(200, "GET", "/journal", "")["items"].([]any)
	assert.Check(t, len(items) == 1 && items[0].(map[string]any)["seq"] == 5.0, "after it was cleared: %v", items)
}

func TestJournalIsBounded(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	const more = 7
	for range journal.Size + more {
		h.inProcess.do("GET", "/nowhere", "")
	}
	entries := h.plane.Journal.Entries(journal.Filter{})
	assert.Assert(t, len(entries) == journal.Size, "%d entries", len(entries))
	for i, e := range entries {
		assert.Assert(t, e.Seq == int64(i+more+1), "entry %d is number %d", i, e.Seq)
	}
}

// TestAudit checks that the audit log attributes the control plane's changes to the control plane.
func TestAudit(t *testing.T) {
	db := apitest.OpenStore(t)
	h := newHarness(t, func(o *apiserver.Options) {
		o.Store, o.Registrar = db, apiserver.Registrar{PaymentNeeded: true}
	})
	var bought struct {
		ID string `json:"purchase_batch_id"`
	}
	h.network.Purchase(workspaceID, "example.com").Want(http.StatusOK).Into(&bought)
	for _, tt := range []struct {
		what string
		do   func()
		want []string // the newest entries
	}{
		{"before", func() {}, []string{"operator issue-owner-token", "service_account purchase-domains"}},
		{"POST /accounts", func() { h.want(201, "POST", "/accounts", `{}`) }, []string{"control_plane init-account"}},
		{"POST /fixture", func() {
			h.want(200, "POST", "/fixture", `{"accounts":[{"id":"22222222-2222-4333-8444-555555555555"}]}`)
		}, []string{"control_plane load-fixture"}},
		{"POST /payments", func() { h.want(200, "POST", "/payments/"+bought.ID, "") }, []string{"control_plane settle-payment"}},
		{"POST /reset", func() { h.want(200, "POST", "/reset", "") },
			[]string{"control_plane reset", "control_plane reset", "control_plane reset"}}, // one per account
		{"EnsureAccount", func() {
			_, err := h.service.EnsureAccount(t.Context(), accountID)
			assert.NilError(t, err)
		}, []string{"operator ensure-account"}},
		{"Reset", func() {
			assert.NilError(t, h.plane.Reset(t.Context(), h.service))
		}, []string{"control_plane reset"}},
	} {
		tt.do()
		var got []string
		err := db.View(t.Context(), func(r store.Reader) error {
			return r.EachAuditEntry(store.AuditFilter{}, func(e store.AuditEntry) error {
				got = append(got, e.Subject.Type+" "+e.Operation)
				return nil
			})
		})
		assert.NilError(t, err)
		assert.Check(t, is.DeepEqual(got[max(0, len(got)-len(tt.want)):], tt.want), "%s: logged", tt.what)
	}
}
