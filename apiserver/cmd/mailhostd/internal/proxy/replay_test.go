package proxy_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apiservertest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest/sample"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/proxy"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/journal"
)

// recordingHost is the API behind a proxy that records.
type recordingHost struct {
	*apitest.Server
	proxy  *proxy.Proxy
	client *apitest.Client // through the proxy
}

func newRecordingHost(t *testing.T, anonymize bool) *recordingHost {
	t.Helper()
	r := &recordingHost{Server: apitest.New(t)}
	upstream := httptest.NewServer(r.Service.Handler())
	t.Cleanup(upstream.Close)
	u, err := url.Parse(upstream.URL)
	assert.NilError(t, err)
	r.proxy = proxy.New(u, false)
	r.proxy.Record(anonymize)
	front := httptest.NewServer(r.proxy)
	t.Cleanup(front.Close)
	token, err := r.Service.IssueOwnerToken(t.Context(), apitest.AccountID, "owner")
	assert.NilError(t, err)
	r.client = &apitest.Client{T: t, HTTP: front.Client(), URL: front.URL, Account: apitest.AccountID, Token: token}
	return r
}

// offline returns a client of the recording.
func (r *recordingHost) offline(t *testing.T) *apitest.Client {
	t.Helper()
	var text bytes.Buffer
	assert.NilError(t, r.proxy.WriteRecording(&text))
	file := filepath.Join(t.TempDir(), "host.yaml")
	assert.NilError(t, os.WriteFile(file, text.Bytes(), 0o600))
	s := apiservertest.Start(t, apiservertest.Recording(file))
	assert.Check(t, is.Equal(s.AccountID, apitest.AccountID))
	return &apitest.Client{T: t, HTTP: http.DefaultClient, URL: s.URL, Account: s.AccountID, Token: "any"}
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
	for n := range 2 {
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
		other := fmt.Sprintf("e%d.com", n)
		bought["domains"] = []string{other, "f" + other}
		text, err = json.Marshal(bought)
		assert.NilError(t, err)
		all = append(all, &history{calls: []call{
			{"GET", "/domains?search=" + other, "", "", ""},
			{"POST", "/domains/purchase", string(text), "id", "results/0/id"},
			{"GET", "/domains?search=" + other, "", "", ""},
			{"DELETE", "/domains/$id", "", "", ""},
			{"GET", "/domains?search=" + other, "", "", ""},
		}})
		option := sample.Option(apitest.AccountID, []string{"eu", "us"}[n]) // claims of one option would not be independent
		all = append(all, &history{calls: []call{
			{"POST", "/dedicated-ips/claim", fmt.Sprintf(`{"option_id":%q}`, option), "ip", "id"},
			{"GET", "/dedicated-ips/$ip", "", "", ""},
			{"DELETE", "/dedicated-ips/$ip", "", "", ""},
			{"GET", "/dedicated-ips/$ip", "", "", ""},
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

// suite returns the files of a test suite, each with histories that begin with the same creates as those of the other files.
func suite(t *testing.T, random *rand.Rand) (files [][]*history) {
	purchase := sample.Body(api.PurchaseDomains.Spec)
	purchase["domains"] = []string{"team.com"}
	bought, err := json.Marshal(purchase)
	assert.NilError(t, err)
	some := func(calls ...call) []call {
		random.Shuffle(len(calls), func(i, j int) { calls[i], calls[j] = calls[j], calls[i] })
		return calls[:random.IntN(len(calls)+1)]
	}
	for range 3 {
		file := []*history{{calls: slices.Concat(
			[]call{
				{"POST", "/domains/purchase", string(bought), "id", "results/0/id"},
				{"GET", "/domains/team.com", "", "", ""},
				{"GET", "/dns-records?domain=team.com", "", "record", "items/0/id"},
				{"POST", "/mailboxes", `{"domain":"team.com","local_part":"jane","first_name":"Jane","last_name":"Doe"}`, "mailbox", "id"},
			},
			some(
				call{"PATCH", "/mailboxes/$mailbox", `{"last_name":"Roe"}`, "", ""},
				call{"PATCH", "/mailboxes/jane@team.com", `{"first_name":"Janet"}`, "", ""},
				call{"PATCH", "/domains/$id", `{"auto_renew":true}`, "", ""},
				call{"PATCH", "/dns-records/$record", `{"ttl":600}`, "", ""},
				call{"DELETE", "/dns-records/$record", "", "", ""},
				call{"POST", "/dns-records", `{"domain":"$id","name":"www","type":"A","value":"192.0.2.1"}`, "", ""},
				call{"POST", "/mailboxes", `{"domain":"team.com","local_part":"john","first_name":"John","last_name":"Doe"}`, "", ""},
				call{"POST", "/mailboxes", `{"domain":"team.com","local_part":"jane","first_name":"Jane","last_name":"Doe"}`, "", ""}, // exists
			),
			[]call{
				{"GET", "/mailboxes/$mailbox", "", "", ""},
				{"GET", "/mailboxes?domain=team.com", "", "", ""},
				{"POST", "/mailboxes/export", `{"domain":"team.com"}`, "", ""},
				{"GET", "/domains/team.com", "", "", ""},
				{"GET", "/dns-records?domain=team.com", "", "", ""},
				{"DELETE", "/mailboxes/jane@team.com", "", "", ""},
				{"GET", "/mailboxes/$mailbox", "", "", ""},
				{"DELETE", "/mailboxes/john@team.com", "", "", ""},
				{"DELETE", "/domains/$id", "", "", ""},
				{"GET", "/mailboxes?domain=team.com", "", "", ""},
			},
		)}}
		for range 3 {
			file = append(file, &history{calls: slices.Concat(
				[]call{
					{"POST", "/auth/service-accounts", `{"name":"ci"}`, "id", "id"},
					{"GET", "/auth/authorizations?subject_id=$id", "", "owner", "0/id"},
				},
				some(
					call{"DELETE", "/auth/authorizations/$owner", "", "", ""},
					call{"POST", "/auth/authorizations", `{"grant_kind":"capability","capability_key":"mailbox.view","subject_type":"service_account","subject_id":"$id"}`, "", ""},
					call{"POST", "/auth/authorizations", `{"grant_kind":"capability","capability_key":"domain.view","subject_type":"service_account","subject_id":"$id"}`, "", ""},
				),
				[]call{
					{"GET", "/auth/authorizations?subject_id=$id", "", "", ""},
					{"DELETE", "/auth/service-accounts/$id", "", "", ""},
					{"GET", "/auth/service-accounts/$id", "", "", ""},
				},
			)})
		}
		files = append(files, file)
	}
	return files
}

// TestReplayInAnotherOrder checks that each file of a recorded test suite gets the recorded responses again, except for
// ids, times and the order of lists: alone, in any order and twice, and with its requests in another order.
func TestReplayInAnotherOrder(t *testing.T) {
	t.Parallel()
	for _, seed := range []uint64{24, 17} { // each found a fault
		if testing.Short() && seed != 24 {
			continue
		}
		random := rand.New(rand.NewPCG(seed, 4))
		r := newRecordingHost(t, false)
		files := suite(t, random)
		var want [][][]string
		for _, file := range files {
			want = append(want, run(t, r.client, file, random))
		}
		offline := r.offline(t)
		for range 6 {
			n := random.IntN(len(files))
			got := run(t, offline, files[n], random)
			for i := range got {
				if !assert.Check(t, is.Equal(unnamed(got[i]), unnamed(want[n][i])), "seed %d, file %d, history %d", seed, n, i) {
					return
				}
			}
		}
	}
}

// TestDocuments checks that reads of no single object show the changes that arrive, although others do not.
func TestDocuments(t *testing.T) {
	t.Parallel()
	r := newRecordingHost(t, false)
	r.Domain("example.com")
	option := sample.Option(apitest.AccountID, "eu")
	export := apitest.Object{"domain": "example.com"}
	purchase := sample.Body(api.PurchaseDomains.Spec)
	purchase["domains"] = []string{"new.com"}
	available := func(c *apitest.Client) any {
		return c.Get("/domains/availability?domain=new.com").Want(200).At("available")
	}
	free := func(c *apitest.Client) any { return c.Get("/dedicated-ips/options").Want(200).At("items.0.available") }
	exported := func(c *apitest.Client) string { return string(c.Post("/mailboxes/export", export).Want(200).Raw) }
	create := func(c *apitest.Client, local string) {
		c.Post("/mailboxes", apitest.Object{"domain": "example.com", "local_part": local, "first_name": "A", "last_name": "Doe"}).Want(201)
	}
	was := []any{available(r.client), free(r.client)}
	create(r.client, "other") // and everything with it is not replayed
	r.client.Post("/auth/service-accounts", apitest.Object{"name": "run"}).Want(201)
	exported(r.client)
	r.client.Delete("/mailboxes/other@example.com").Want(204)
	create(r.client, "jane")
	exported(r.client)
	r.client.Patch("/mailboxes/jane@example.com", apitest.Object{"last_name": "Roe"}).Want(200)
	exported(r.client)
	r.client.Post("/domains/purchase", purchase).Want(200)
	r.client.Post("/dedicated-ips/claim", apitest.Object{"option_id": option}).Want(201)
	then := []any{available(r.client), free(r.client)}
	account := string(normal(r.client.Get("").Want(200).Raw))

	offline := r.offline(t)
	assert.Check(t, is.DeepEqual([]any{available(offline), free(offline)}, was))
	create(offline, "jane")
	assert.Check(t, strings.Contains(exported(offline), ",jane@example.com,A,Doe,") && !strings.Contains(exported(offline), "other@"), "%s", exported(offline))
	offline.Patch("/mailboxes/jane@example.com", apitest.Object{"last_name": "Roe"}).Want(200)
	assert.Check(t, strings.Contains(exported(offline), ",jane@example.com,A,Roe,"), "%s", exported(offline))
	offline.Post("/domains/purchase", purchase).Want(200)
	assert.Check(t, is.DeepEqual([]any{available(offline), free(offline)}, []any{then[0], was[1]}))
	offline.Post("/dedicated-ips/claim", apitest.Object{"option_id": option}).Want(201)
	assert.Check(t, is.DeepEqual([]any{available(offline), free(offline)}, then))
	assert.Check(t, is.Equal(string(normal(offline.Get("").Want(200).Raw)), account))
}

// unnamed returns responses without ids, times, what identifies a token, and the order of lists.
func unnamed(responses []string) string {
	var all []string
	for _, text := range responses {
		text = regexp.MustCompile(`[[:xdigit:]]{8}(-[[:xdigit:]]{4}){3}-[[:xdigit:]]{12}|\b\d{12,}\b|\d{4}-\d\d-\d\dT[\d:.]+Z`).ReplaceAllString(text, "…")
		text = regexp.MustCompile(`"token_\w+":"[^"]*"`).ReplaceAllString(text, "…")
		if rows := strings.Split(text, "\r\n"); len(rows) > 1 {
			slices.Sort(rows[1:])
			text = strings.Join(rows, "\n")
		}
		objects := strings.Split(text, "},{")
		if start := strings.IndexByte(text, '['); start >= 0 && len(objects) > 1 {
			end := strings.LastIndexByte(text, ']')
			objects = strings.Split(strings.TrimSuffix(strings.TrimPrefix(text[start+1:end], "{"), "}"), "},{")
			slices.Sort(objects)
			text = text[:start] + strings.Join(objects, "},{") + text[end:]
		}
		all = append(all, text)
	}
	return strings.Join(all, "\n")
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
	random := rand.New(rand.NewPCG(0, 0))
	r := newRecordingHost(t, false)
	all := histories(t, random)
	want := run(t, r.client, all, random)
	got := run(t, r.offline(t), all, random)
	for i := range want {
		assert.Check(t, is.Equal(strings.Join(got[i], "\n"), strings.Join(want[i], "\n")), "history %d", i)
	}
}

// TestReplayOfConcurrentClients checks a recording in which lists were in flight together with changes.
func TestReplayOfConcurrentClients(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(0, 1))
	r := newRecordingHost(t, false)
	all := histories(t, random)
	want := runConcurrently(t, r.client, all, true)
	got := runConcurrently(t, r.offline(t), all, false)
	for i := range want {
		assert.Check(t, is.Equal(strings.Join(got[i], "\n"), strings.Join(want[i], "\n")), "history %d", i)
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
					time.Sleep(20 * time.Millisecond)
				}
			}
		})
	}
	clients.Wait()
	close(done)
	watchers.Wait()
	return responses
}

// TestAnonymousRecording checks that a recording without names fits together.
func TestAnonymousRecording(t *testing.T) {
	t.Parallel()
	r := newRecordingHost(t, true)
	r.Domain("example.com")
	for _, name := range []string{"jane", "john"} {
		r.client.Post("/mailboxes", apitest.Object{"domain": "example.com", "local_part": name, "first_name": strings.ToUpper(name), "last_name": "Doe"}).Want(201)
	}
	r.client.Patch("/mailboxes/Jane@example.com", apitest.Object{"last_name": "Roe"}).Want(200)
	r.client.Get("/mailboxes?domain=example.com").Want(200)
	r.client.Get("/mailboxes?search=roe").Want(200).Is("total", 1)
	offline := r.offline(t)
	for n := range 2 {
		name := fmt.Sprintf("user-%d", n+1)
		offline.Post("/mailboxes", apitest.Object{"domain": "EXAMPLE.com", "local_part": name, "first_name": fmt.Sprintf("First %d", n+1), "last_name": "Last 1"}).Want(201).Is("primary_email", name+"@example.com")
	}
	offline.Get("/mailboxes/user-1@example.com").Is("last_name", "Last 1")
	offline.Patch("/mailboxes/user-1@example.com", apitest.Object{"last_name": "Last 2"}).Want(200)
	offline.Get("/mailboxes?search=Last+2").Is("total", 1, "items.0.local_part", "user-1")
}

// TestUnrecorded checks requests that a recording does not contain, and states that it does not show.
func TestUnrecorded(t *testing.T) {
	t.Parallel()
	r := newRecordingHost(t, false)
	r.Domain("example.com")
	for i := range 5 {
		r.Mailbox("example.com", fmt.Sprintf("old%d", i))
	}
	r.client.Get("/mailboxes?page=2&page_size=2").Want(200)
	body := apitest.Object{"domain": "example.com", "local_part": "jane", "first_name": "Jane", "last_name": "Doe"}
	r.client.Post("/mailboxes", body).Want(201)
	r.client.Delete("/mailboxes/jane@example.com").Want(204)
	r.client.Post("/auth/service-accounts", apitest.Object{"name": "ci", "expires_at": "2030-01-01T00:00:00Z"}).Want(201)
	offline := r.offline(t)
	unrecorded := func(method, path string, body any, place, want string) {
		t.Helper()
		response, err := offline.Try(t.Context(), method, path, body)
		assert.NilError(t, err)
		response.Refused(501, place+" not_recorded").Says("the recording contains", method+" "+path, want, "Send a recorded request, or record again with mailhostd proxy --record")
	}
	for _, tt := range []struct {
		method, path string
		body         any
		place, want  string
	}{
		{"GET", "/mailboxes", nil, "query.page", "only other pages"},
		{"GET", "/mailboxes/john@example.com", nil, "path", "The nearest is"},
		{"GET", "/domains", nil, "path", "The nearest is"},
		{"POST", "/mailboxes", apitest.With(body, "last_name", "Roe"), "body.last_name", `with last_name "Roe". The nearest is POST /mailboxes with last_name "Doe"`},
		{"POST", "/mailboxes", apitest.With(body, "local_part", "jan", "x", 1), "body.local_part", `with local_part "jan", x 1. The nearest is POST /mailboxes with local_part "jane", no x (id`},
		{"POST", "/mailboxes", apitest.With(body, "a", 1, "b", 2, "c", strings.Repeat("é", 70), "d", 4, "e", 5, "f", 6), "body.a", `with a 1, b 2, c "` + strings.Repeat("é", 60) + `…", d 4 and 2 more. The`},
		{"DELETE", "/mailboxes/jim@example.com", nil, "path.mailbox", "The nearest is DELETE /mailboxes/jane@example.com (id 2 in the recording)."},
		{"POST", "/mailboxes/bulk", apitest.Object{"domain": "example.com", "items": []any{}}, "path", "The nearest is POST /mailboxes"},
		{"POST", "/mailboxes/bulk", apitest.Object{"domain": "example.com", "items": []any{apitest.Object{"local_part": "x"}}}, "body.first_name", `with no first_name, no last_name, local_part "x". The nearest is POST /mailboxes with first_name "Jane", last_name "Doe", local_part "jane" (id 1 `},
		{"DELETE", "/domains/example.com", nil, "path", "The nearest is"},
	} {
		unrecorded(tt.method, tt.path, tt.body, tt.place, tt.want)
	}
	offline.Get("/mailboxes?page=2&page_size=2").Want(200).Is("total", 5, "page", 2)
	for _, key := range []string{apitest.UnknownID, apitest.AccountID} { // the objects' lives may be repeated
		offline.Get("/mailboxes/jane@example.com").Refused(404, "path.mailbox not_found")
		created := offline.PostKeyed(key, "/mailboxes", body).Want(201)
		again := offline.PostKeyed(key, "/mailboxes", body).Want(201)
		assert.Check(t, is.DeepEqual(again.JSON, created.JSON))
		assert.Check(t, again.Replayed() && !created.Replayed())
		unrecorded("POST", "/mailboxes", body, "path", "only while the object does not exist")
		offline.Delete("/mailboxes/" + created.Str("id")).Want(204)
		offline.Delete("/mailboxes/jane@example.com").Refused(404, "path.mailbox not_found")
	}
	// One by one or in bulk makes no difference.
	item := apitest.Object{"local_part": "Jane", "first_name": "Jane", "last_name": "Doe"}
	offline.Post("/mailboxes/bulk", apitest.Object{"domain": "example.com", "items": []any{item}}).Want(200).Is("created.0.index", 0, "created.0.mailbox.local_part", "jane")
	offline.Post("/auth/service-accounts", apitest.Object{"name": "ci", "expires_at": "2031-01-01T00:00:00Z"}).Want(201).Is("expires_at", "2031-01-01T00:00:00.000000Z")
	offline.Get("/auth/service-accounts?page_size=3").Want(200).Is("items.0.expires_at", "2031-01-01T00:00:00.000000Z")
}

// TestReplayBeforeChange checks that what a change alters in other objects shows only after the change: the workspace of
// the mailboxes of a domain, and the addresses that can still be claimed.
func TestReplayBeforeChange(t *testing.T) {
	t.Parallel()
	r := newRecordingHost(t, false)
	r.Domain("example.com")
	r.Mailbox("example.com", "jane")
	requests := func(c *apitest.Client) (responses []string) {
		send := func(method, path string, body any) *apitest.Response {
			response, err := c.Try(t.Context(), method, path, body)
			assert.NilError(t, err)
			responses = append(responses, method+" "+path+" "+string(normal(response.Raw)))
			return response
		}
		workspace := send("POST", "/workspaces", apitest.Object{"name": "Team"}).Str("id")
		reads := func() {
			send("GET", "/domains/example.com", nil)
			send("GET", "/mailboxes/jane@example.com", nil)
			send("GET", "/mailboxes?domain=example.com", nil)
			send("GET", "/dedicated-ips/options", nil)
		}
		reads()
		send("PATCH", "/domains/example.com", apitest.Object{"workspace_id": workspace})
		reads()
		claim, _ := json.Marshal(apitest.Object{"option_id": sample.Option(apitest.AccountID, "eu")})
		ip := send("POST", "/dedicated-ips/claim", string(claim)).Str("id")
		reads()
		send("DELETE", "/dedicated-ips/"+ip, nil)
		reads()
		return responses
	}
	want := requests(r.client)
	assert.Check(t, want[2] != want[7] && want[9] != want[14], "no change shows: %s", want)
	assert.Check(t, is.DeepEqual(requests(r.offline(t)), want))
}
