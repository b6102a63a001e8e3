package proxy_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/recorder"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest/sample"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/proxy"
)

// TestRecording checks that a recording contains each exchange without secrets, and that go-vcr can replay it.
func TestRecording(t *testing.T) {
	t.Parallel()
	h := newHost(t, false, nil)
	h.proxy.Record(false)
	h.Domain("example.com")
	h.send("POST", "/mailboxes", sample.Body(api.CreateMailbox.Spec), api.IdempotencyKeyHeader, "11111111-2222-4333-8444-0123456789ab")
	token := h.send("POST", "/auth/service-accounts", apitest.Object{"name": "ci"}).Str("token")
	generated := h.send("POST", "/credentials", apitest.Object{"name": "a", "generate": true}).Str("generated_secret")
	h.send("POST", "/credentials", apitest.Object{"name": "b", "value": "hunter2"})
	h.send("POST", "/credentials", "name=c&value=hunter3")
	h.send("POST", "/domains/purchase", sample.Body(api.PurchaseDomains.Spec))
	h.send("GET", "/mailboxes?access_token="+token, nil)
	h.send("GET", "/mailboxes/"+token, nil)
	list := h.send("GET", "/mailboxes?page_size=5", nil)
	h.send("POST", "/mailboxes/export", apitest.Object{})
	h.send("GET", "/nowhere", nil)
	name := filepath.Join(t.TempDir(), "host")
	file, err := os.Create(name + ".yaml")
	assert.NilError(t, err)
	assert.NilError(t, h.proxy.WriteRecording(file))
	assert.NilError(t, file.Close())
	text, err := os.ReadFile(name + ".yaml")
	assert.NilError(t, err)
	for _, secret := range []string{h.client.Token, token, generated, "hunter2", "hunter3", "Hauptstr", "0123456789ab", "Authorization"} {
		assert.Check(t, secret != "" && !bytes.Contains(text, []byte(secret)), "the recording contains %q", secret)
	}
	recorded, err := cassette.Load(name)
	assert.NilError(t, err)
	assert.Check(t, is.Len(recorded.Interactions, 10))
	player, err := recorder.New(name, recorder.WithMode(recorder.ModeReplayOnly), recorder.WithSkipRequestLatency(true), recorder.WithMatcher(func(r *http.Request, i cassette.Request) bool {
		return r.Method == i.Method && strings.HasSuffix(i.URL, r.URL.RequestURI())
	}))
	assert.NilError(t, err)
	offline := &apitest.Client{T: t, HTTP: player.GetDefaultClient(), Account: apitest.AccountID}
	assert.Check(t, is.DeepEqual(offline.Get("/mailboxes?page_size=5").Want(200).JSON, list.JSON))
	assert.Check(t, strings.Contains(string(offline.Post("/mailboxes/export", nil).Want(200).Raw), "jane.doe@example.com"))
}

// TestRecordedSecrets records secrets in every place where a client or a host may send one.
func TestRecordedSecrets(t *testing.T) {
	t.Parallel()
	const key = "11111111-2222-4333-8444-5555canary01"
	secrets := map[string]string{ // by member
		"token": "canary02", "access_token": "canary03", "generated_secret": "canary04", "secret": "canary05", "password": "canary06", "value": "canary07", "contact_info": "canary08",
		"refresh_token": "canary09", "client_secret": "canary10", "verification_url": "https://mail.example.com/canary11", "verification_token": "canary12",
	}
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Request-Id", r.Header.Get(api.IdempotencyKeyHeader))
		w.Header().Set("Set-Cookie", "session=canary13")
		w.Header().Set("X-Api-Key", "canary14")
		w.Header().Set("WWW-Authenticate", `Bearer error_description="`+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")+`"`)
		sent, _ := io.ReadAll(r.Body)
		body := strings.ReplaceAll(string(sent), "canary08", "")
		_ = json.NewEncoder(w).Encode(apitest.Object{"id": "1", "nested": []any{secrets}, "msg": "received " + body + " of " + r.Header.Get("Authorization") + " under " + r.Header.Get(api.IdempotencyKeyHeader)})
	}))
	defer upstream.Close()
	u, err := url.Parse(upstream.URL)
	assert.NilError(t, err)
	for _, anonymize := range []bool{false, true} {
		p := proxy.New(u, false)
		p.Record(anonymize)
		front := httptest.NewServer(p)
		for _, s := range api.Specs() {
			body, err := json.Marshal(secrets)
			assert.NilError(t, err)
			path := strings.NewReplacer("{account_id}", apitest.AccountID, "{dns_record_id}", "1", "{", "", "}", "").Replace(s.Path)
			r, err := http.NewRequestWithContext(t.Context(), s.Method, front.URL+path+"?access_token=canary15&q=eyJcanary16.x.y", bytes.NewReader(body))
			assert.NilError(t, err)
			r.Header = http.Header{"Authorization": {"Bearer canary17"}, "Cookie": {"canary18=canary19"}, api.IdempotencyKeyHeader: {key}, "Proxy-Authorization": {"Basic canary20"}, "User-Agent": {"test"}}
			response, err := front.Client().Do(r)
			assert.NilError(t, err)
			_, _ = io.Copy(io.Discard, response.Body)
			assert.NilError(t, response.Body.Close())
		}
		front.Close()
		var text bytes.Buffer
		assert.NilError(t, p.WriteRecording(&text))
		for line := range strings.Lines(text.String()) {
			// The value of a DNS record is public.
			if withoutValue := strings.ReplaceAll(line, "canary07", ""); strings.Contains(withoutValue, "canary") {
				t.Errorf("the recording contains %q", line)
				return
			}
		}
		assert.Check(t, strings.Count(text.String(), "canary07") <= 30 && strings.Count(text.String(), "- id: ") == len(api.Specs()), "%s", text.String())
	}
}

// TestAnonymize checks that a recording contains no person, and that the same value is replaced in the same way.
func TestAnonymize(t *testing.T) {
	t.Parallel()
	h := newHost(t, false, nil)
	h.proxy.Record(true)
	h.Domain("example.com")
	h.send("POST", "/mailboxes", apitest.Object{"domain": "example.com", "local_part": "Zoe.Canary", "first_name": "Zoë-Canary", "last_name": "O'Canary"})
	h.send("POST", "/mailboxes", apitest.Object{"domain": "example.com", "local_part": "zoe.canary", "first_name": "A", "last_name": "B"}) // exists
	h.send("POST", "/mailboxes/bulk", apitest.Object{"domain": "example.com", "items": []any{apitest.Object{"local_part": "bcanary", "first_name": "Bcanary", "last_name": "O'Canary"}}})
	h.send("GET", "/mailboxes/zoe.canary%40example.com", nil)
	h.send("PATCH", "/mailboxes/ZOE.canary@example.com", apitest.Object{"last_name": "Canary-Roe"})
	h.send("GET", "/mailboxes?search=O'Canary", nil)
	h.send("POST", "/mailboxes/export", apitest.Object{})
	h.send("POST", "/forwarding", apitest.Object{"domain": "example.com", "target_email": "zoe.canary@example.com"})
	h.send("POST", "/dns-records", apitest.Object{"domain": "example.com", "name": "_dmarc.a", "type": "TXT", "value": "v=DMARC1; p=none; rua=mailto:zoe.canary@example.com"})
	h.send("POST", "/feedback", apitest.Object{"title": "From canary", "description": "Canary", "attributes": apitest.Object{"who": "canary"}})
	h.send("GET", "/audit-log?object=zoe.canary@example.com", nil)
	h.send("GET", "/auth/creations", nil)
	var text bytes.Buffer
	assert.NilError(t, h.proxy.WriteRecording(&text))
	recorded := text.String()
	if i := strings.Index(strings.ToLower(recorded), "canary"); i >= 0 {
		t.Errorf("the recording contains %q", recorded[max(i-200, 0):min(i+100, len(recorded))])
	}
	for _, want := range []string{
		`"local_part":"user-1"`, `"primary_email":"user-1@example.com"`, `"primary_email":"user-2@example.com"`, `"last_name":"Last 1"`, "/mailboxes/user-1@example.com", "user-1@example.com,First 1,Last 3,example.com",
		`"target_email":"user-1@example.com"`, "rua=mailto:user-1@example.com", "the mailbox user-1@example.com exists already",
	} {
		assert.Check(t, strings.Contains(recorded, want), "the recording does not contain %s:\n%s", want, recorded)
	}
}
