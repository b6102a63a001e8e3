package replay_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest/sample"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/proxy"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/replay"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/journal"
)

// recorder is the API behind a proxy that records.
type recorder struct {
	*apitest.Server
	proxy  *proxy.Proxy
	client *apitest.Client // through the proxy
}

func newRecorder(t *testing.T) *recorder {
	t.Helper()
	r := &recorder{Server: apitest.New(t)}
	upstream := httptest.NewServer(r.Service.Handler())
	t.Cleanup(upstream.Close)
	u, err := url.Parse(upstream.URL)
	assert.NilError(t, err)
	r.proxy = proxy.New(u, false)
	r.proxy.Record(false)
	front := httptest.NewServer(r.proxy)
	t.Cleanup(front.Close)
	token, err := r.Service.IssueOwnerToken(t.Context(), apitest.AccountID, "owner")
	assert.NilError(t, err)
	r.client = &apitest.Client{T: t, HTTP: front.Client(), URL: front.URL, Account: apitest.AccountID, Token: token}
	return r
}

// offline returns a client of the recording.
func (r *recorder) offline(t *testing.T) *apitest.Client {
	t.Helper()
	var text bytes.Buffer
	assert.NilError(t, r.proxy.WriteRecording(&text))
	recording, err := replay.Read(&text)
	assert.NilError(t, err)
	assert.Check(t, is.Equal(recording.AccountID(), apitest.AccountID))
	server := httptest.NewServer(recording.Middleware(http.NotFoundHandler()))
	t.Cleanup(server.Close)
	return &apitest.Client{T: t, HTTP: server.Client(), URL: server.URL, Account: apitest.AccountID, Token: "any"}
}

// call is a request of a history. Its path and body contain $name in place of a value of an earlier response
// of the same history.
type call struct {
	method, path, body string
	save, member       string
}

// history contains the requests for one object and its parts, in order.
type history struct {
	calls  []call
	values map[string]string
	done   int
}

// histories returns histories that are independent of each other. Some calls are left out at random.
func histories(t *testing.T, random *rand.Rand) (all []*history) {
	purchase, err := json.Marshal(sample.Body(api.PurchaseDomains.Spec))
	assert.NilError(t, err)
	var bought apitest.Object
	assert.NilError(t, json.Unmarshal(purchase, &bought))
	for n := range 3 {
		bought["domains"] = []string{fmt.Sprintf("d%d.com", n)}
		text, err := json.Marshal(bought)
		assert.NilError(t, err)
		d := fmt.Sprintf("d%d.com", n)
		all = append(all, &history{calls: []call{
			{"GET", "/domains/" + d, "", "", ""},
			{"GET", "/domains?search=" + d, "", "", ""},
			{"POST", "/domains/purchase", string(text), "id", "results/0/id"},
			{"GET", "/domains/" + d, "", "", ""},
			{"POST", "/domains/purchase", string(text), "", ""}, // is owned already
			{"GET", "/dns-records?domain=" + d, "", "", ""},
			{"POST", "/dns-records", `{"domain":"` + d + `","name":"www","type":"A","value":"192.0.2.1"}`, "record", "id"},
			{"GET", "/dns-records/$record", "", "", ""},
			{"GET", "/dns-records?domain=" + strings.ToUpper(d) + "&page_size=1&page=2", "", "", ""},
			{"PATCH", "/dns-records/$record", `{"ttl":600}`, "", ""},
			{"GET", "/dns-records?domain=" + d + "&type=A", "", "", ""},
			{"POST", "/mailboxes", `{"domain":"$id","local_part":"jane","first_name":"Jane","last_name":"Doe"}`, "mailbox", "id"},
			{"GET", "/mailboxes/jane@" + d, "", "", ""},
			{"POST", "/mailboxes", `{"domain":"` + d + `","local_part":"Jane","first_name":"Jane","last_name":"Doe"}`, "", ""}, // exists
			{"POST", "/mailboxes/bulk", `{"domain":"` + d + `","items":[{"local_part":"a","first_name":"A","last_name":"A"},{"local_part":"jane","first_name":"A","last_name":"A"},{"local_part":"b","first_name":"B","last_name":"B"}]}`, "a", "created/0/mailbox/id"},
			{"GET", "/mailboxes?domain=$id", "", "", ""},
			{"PATCH", "/mailboxes/$mailbox", `{"last_name":"Roe"}`, "", ""},
			{"GET", "/mailboxes/$mailbox", "", "", ""},
			{"PATCH", "/mailboxes/$mailbox", `{"last_name":"Doe"}`, "", ""},
			{"GET", "/mailboxes?domain=" + d + "&page_size=2", "", "", ""},
			{"PATCH", "/domains/" + d, `{"auto_renew":true}`, "", ""},
			{"GET", "/domains/$id", "", "", ""},
			{"POST", "/workspaces", fmt.Sprintf(`{"name":"Team %d"}`, n), "workspace", "id"},
			{"PATCH", "/domains/" + d, `{"workspace_id":"$workspace"}`, "", ""},
			{"GET", "/mailboxes/$mailbox", "", "", ""},
			{"GET", "/domains?workspace_id=$workspace", "", "", ""},
			{"POST", "/forwarding", `{"domain":"` + d + `","target_email":"jane@other.example"}`, "rule", "id"},
			{"GET", "/forwarding?domain=" + d, "", "", ""},
			{"PATCH", "/forwarding/$rule/active", `{"active":false}`, "", ""},
			{"GET", "/forwarding/$rule", "", "", ""},
			{"POST", "/credentials", `{"name":"support","domain":"` + d + `","value":"hunter22"}`, "password", "id"},
			{"POST", "/credentials", fmt.Sprintf(`{"name":"a%d","generate":true}`, n), "other", "id"},
			{"PATCH", "/credentials/$password", `{"name":"desk"}`, "", ""},
			{"GET", "/credentials?domain=$id", "", "", ""},
			{"DELETE", "/credentials/$password", "", "", ""},
			{"DELETE", "/credentials/$password", "", "", ""},
			{"GET", "/credentials/$password", "", "", ""},
			{"DELETE", "/dns-records/$record", "", "", ""},
			{"GET", "/dns-records?domain=" + d, "", "", ""},
			{"DELETE", "/domains/" + d, "", "", ""}, // contains mailboxes
			{"DELETE", "/mailboxes/$mailbox", "", "", ""},
			{"GET", "/mailboxes?domain=" + d, "", "", ""},
			{"DELETE", "/mailboxes/a@" + d, "", "", ""},
			{"DELETE", "/mailboxes/b@" + d, "", "", ""},
			{"GET", "/mailboxes?domain=" + d, "", "", ""},
			{"DELETE", "/domains/" + d, "", "", ""},
			{"GET", "/domains/" + d, "", "", ""},
			{"GET", "/forwarding/$rule", "", "", ""},
			{"GET", "/domains?search=" + d, "", "", ""},
		}})
		all = append(all, &history{calls: []call{
			{"POST", "/auth/service-accounts", fmt.Sprintf(`{"name":"ci %d"}`, n), "id", "id"},
			{"GET", "/auth/authorizations?subject_id=$id", "", "", ""},
			{"GET", "/auth/service-accounts/$id", "", "", ""},
			{"POST", "/auth/authorizations", `{"grant_kind":"capability","capability_key":"mailbox.view","subject_type":"service_account","subject_id":"$id"}`, "grant", "id"},
			{"GET", "/auth/authorizations?subject_id=$id", "", "", ""},
			{"POST", "/auth/authorizations", `{"grant_kind":"capability","capability_key":"domain.view","subject_type":"service_account","subject_id":"$id"}`, "", ""},
			{"GET", "/auth/authorizations?subject_id=$id", "", "", ""},
			{"DELETE", "/auth/authorizations/$grant", "", "", ""},
			{"GET", "/auth/authorizations?subject_id=$id&include_revoked=true", "", "", ""},
			{"GET", "/auth/authorizations?subject_id=$id", "", "", ""},
			{"DELETE", "/auth/service-accounts/$id", "", "", ""},
			{"GET", "/auth/service-accounts/$id", "", "", ""},
			{"GET", "/auth/authorizations?subject_id=$id", "", "", ""},
		}})
	}
	for _, h := range all {
		h.calls = slices.DeleteFunc(h.calls, func(c call) bool { return c.save == "" && random.IntN(4) == 0 })
	}
	return all
}

// run sends the calls of all histories, interleaved at random, and returns the responses of each.
func run(t *testing.T, c *apitest.Client, all []*history, random *rand.Rand) [][]string {
	responses := make([][]string, len(all))
	for _, h := range all {
		h.values, h.done = map[string]string{}, 0
	}
	for {
		var left []int
		for i, h := range all {
			if h.done < len(h.calls) {
				left = append(left, i)
			}
		}
		if left == nil {
			return responses
		}
		i := left[random.IntN(len(left))]
		h := all[i]
		step := h.calls[h.done]
		h.done++
		fill := func(text string) string {
			for name, value := range h.values {
				text = strings.ReplaceAll(text, "$"+name, value)
			}
			return text
		}
		var body any
		if step.body != "" {
			body = fill(step.body)
		}
		path := fill(step.path)
		r, err := c.Try(t.Context(), step.method, path, body, "Idempotency-Key", fmt.Sprintf("%08x-0000-4000-8000-%012x", random.Uint32(), random.Uint32()))
		assert.Assert(t, r != nil, "%s %s: %v", step.method, path, err)
		if step.save != "" {
			var v any
			dec := json.NewDecoder(bytes.NewReader(r.Raw))
			dec.UseNumber()
			assert.NilError(t, dec.Decode(&v))
			r.JSON = v
			h.values[step.save] = fmt.Sprint(r.At(strings.ReplaceAll(step.member, "/", ".")))
		}
		responses[i] = append(responses[i], fmt.Sprintf("%s %s %s: %d %s", step.method, path, step.body, r.Status, journal.Redact("", normal(r.Raw))))
	}
}

func normal(text []byte) []byte {
	var v any
	if json.Unmarshal(text, &v) != nil {
		return text
	}
	text, _ = json.Marshal(v)
	return text
}

// TestReplay checks that the requests of independent histories get the recorded responses in any order.
func TestReplay(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		random := rand.New(rand.NewPCG(seed, 0))
		r := newRecorder(t)
		all := histories(t, random)
		want := run(t, r.client, all, random)
		offline := r.offline(t)
		got := run(t, offline, all, random)
		for i := range want {
			assert.Check(t, is.Equal(strings.Join(got[i], "\n"), strings.Join(want[i], "\n")), "seed %d, history %d", seed, i)
		}
		if t.Failed() {
			return
		}
	}
}

// TestReplayOfConcurrentClients checks a recording in which lists were in flight together with changes.
func TestReplayOfConcurrentClients(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		random := rand.New(rand.NewPCG(seed, 1))
		r := newRecorder(t)
		all := histories(t, random)
		want := runConcurrently(t, r.client, all, true)
		offline := r.offline(t)
		for range 2 {
			got := runConcurrently(t, offline, all, false)
			for i := range want {
				assert.Check(t, is.Equal(strings.Join(got[i], "\n"), strings.Join(want[i], "\n")), "seed %d, history %d", seed, i)
			}
			if t.Failed() {
				return
			}
			offline = r.offline(t)
		}
	}
}

// runConcurrently is run, with all histories at the same time, and on request with a client that lists everything.
func runConcurrently(t *testing.T, c *apitest.Client, all []*history, watch bool) [][]string {
	responses := make([][]string, len(all))
	var clients, watchers sync.WaitGroup
	done := make(chan struct{})
	for i, h := range all {
		random := rand.New(rand.NewPCG(uint64(i), 2))
		clients.Go(func() { responses[i] = run(t, c, []*history{h}, random)[0] })
	}
	for _, path := range []string{"/mailboxes", "/domains", "/dns-records?page_size=3", "/forwarding", "/credentials", "/auth/service-accounts", "/auth/authorizations"} {
		watchers.Go(func() {
			for watch {
				select {
				case <-done:
					return
				default:
					_, err := c.Try(t.Context(), "GET", path, nil)
					assert.Check(t, err)
				}
			}
		})
	}
	clients.Wait()
	close(done)
	watchers.Wait()
	return responses
}
