package proxy_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/proxy"
)

// mark is a part of each name in these tests, and of nothing else.
const mark = "zq"

// person is a person with a random name in which each word contains mark.
type person struct{ first, last, local string }

func randomPerson(random *rand.Rand) person {
	word := func() string {
		text := mark
		for range 2 + random.IntN(3) {
			text += string([]rune("abdefgiklmnorstuvwxyzéöñß")[random.IntN(25)])
		}
		return text
	}
	title := func(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
	first, last := word(), word()
	p := person{first: title(first), last: title(last)}
	switch random.IntN(5) {
	case 0:
		p.first += "-" + title(word())
	case 1:
		p.last = "O'" + p.last
	case 2:
		p.last = "von der " + p.last + " " + title(word())
	}
	plain := strings.NewReplacer("é", "e", "ö", "oe", "ñ", "n", "ß", "ss").Replace
	first, last = plain(first), plain(last)
	locals := []string{first, title(first), "o'" + last, first + "_" + last + "-"}
	for _, separator := range []string{".", "+", "-", "/", "&", "=", "?", "|", "'"} {
		locals = append(locals, first+separator+last)
	}
	p.local = locals[random.IntN(len(locals))]
	return p
}

// mention returns a text that names a person in one of many ways.
func (p person) mention(random *rand.Rand) string {
	forms := []string{
		p.local + " is taken", "'" + p.local + "' exists", p.first + " " + p.last + " owns this address", p.last + ", " + p.first, "Ask " + strings.ToUpper(p.first) + ".",
		p.local + "@example.com exists", p.first + "'s mailbox (" + strings.ToLower(p.last) + ")", fmt.Sprintf("received {\"local_part\":%q}", p.local),
		"no route to /mailboxes/" + url.PathEscape(p.local+"@example.com"), "see https://example.com/people/" + url.PathEscape(p.first+" "+p.last) + "?q=" + p.local,
		fmt.Sprintf("%s %s <%s@example.com>", p.first, p.last, p.local),
	}
	return forms[random.IntN(len(forms))]
}

// differingHost passes requests on to a host, and names people at other places of the responses.
func differingHost(random *rand.Rand, people *[]person, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(sent))
		recorded := httptest.NewRecorder()
		next.ServeHTTP(recorded, r)
		body := recorded.Body.Bytes()
		text := "unknown"
		if n := len(*people); n > 0 {
			text = (*people)[random.IntN(n)].mention(random)
		}
		var value map[string]any
		dec := json.NewDecoder(bytes.NewReader(body))
		dec.UseNumber()
		isObject := dec.Decode(&value) == nil
		contentType := recorded.Header().Get("Content-Type")
		var input any
		_ = json.Unmarshal(sent, &input)
		switch {
		case recorded.Code >= 400:
			switch random.IntN(6) {
			case 0:
				contentType, isObject, body = "text/html", false, []byte("<h1>"+html.EscapeString(text)+"</h1>")
			case 1:
				value = map[string]any{"detail": text}
			case 2:
				value = map[string]any{"error": map[string]any{"code": "conflict", "message": text}, "errors": []any{text, map[string]any{text: "exists"}}}
			case 3:
				value = map[string]any{"title": text, "detail": text, "instance": r.URL.Path, "owner": map[string]any{"full_name": text}}
			case 4:
				value = map[string]any{"detail": []any{map[string]any{"loc": []any{"body"}, "msg": text, "type": "value_error", "input": input}}}
			}
		case isObject && value["primary_email"] != nil:
			value["display_name"] = text
			value["team"] = map[string]any{"lead": text, "size": 3}
			value["aliases"] = []any{map[string]any{"alias": fmt.Sprintf("%salias%d@example.com", mark, random.IntN(9)), "is_catch_all": false}, map[string]any{"alias": "*@example.com", "is_catch_all": true}}
		case strings.HasPrefix(contentType, "text/csv"):
			lines := strings.Split(strings.TrimSuffix(string(body), "\r\n"), "\r\n")
			for i := range lines {
				lines[i] += `,Full Name`
				if i > 0 {
					lines[i] = strings.TrimSuffix(lines[i], "Full Name") + `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
				}
			}
			body = []byte(strings.Join(lines, "\r\n"))
		}
		if isObject {
			body, _ = json.Marshal(value)
		}
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("X-Request-Id", "1")
		w.WriteHeader(recorded.Code)
		_, _ = w.Write(body)
	})
}

// members returns the ids and the names in a body, without what differingHost adds at random.
func members(body []byte) string {
	return strings.Join(regexp.MustCompile(`"(id|local_part|first_name|last_name|primary_email|total|index|code)":[^,}]*`).FindAllString(string(normal(body)), -1), " ")
}

// TestAnonymousPeople records random people on a host that names them everywhere, and checks that none is in the
// recording, that ids and domains stay, and that the recording serves the same requests under the new names.
func TestAnonymousPeople(t *testing.T) {
	t.Parallel()
	for _, seed := range []uint64{2, 1} {
		if testing.Short() && seed != 2 {
			continue
		}
		random := rand.New(rand.NewPCG(seed, 3))
		var people []person
		r := &recordingHost{Server: apitest.New(t)}
		upstream := httptest.NewServer(differingHost(random, &people, r.Service.Handler()))
		defer upstream.Close()
		u, err := url.Parse(upstream.URL)
		assert.NilError(t, err)
		r.proxy = proxy.New(u, false)
		r.proxy.Record(true)
		front := httptest.NewServer(r.proxy)
		defer front.Close()
		token, err := r.Service.IssueOwnerToken(t.Context(), apitest.AccountID, "owner")
		assert.NilError(t, err)
		r.client = &apitest.Client{T: t, HTTP: front.Client(), URL: front.URL, Account: apitest.AccountID, Token: token}
		r.Domain("example.com")
		send := func(method, path string, body any) *apitest.Response {
			t.Helper()
			response, err := r.client.Try(t.Context(), method, path, body)
			assert.NilError(t, err)
			return response
		}
		created := func(p person) apitest.Object {
			return apitest.Object{"domain": "example.com", "local_part": p.local, "first_name": p.first, "last_name": p.last}
		}
		// Common words as local parts must leave the rest of the recording as it is.
		for _, local := range []string{"a", "info", "items", "active", "example.com", "25", "mailbox", "json"} {
			p := person{randomPerson(random).first, randomPerson(random).last, local}
			send("POST", "/mailboxes", created(p))
		}
		registrant := randomPerson(random) // who is nowhere else
		people = append(people, registrant)
		send("POST", "/domains/purchase", apitest.Object{"domains": []string{"bought.com"}, "workspace_id": api.DefaultWorkspaceID(apitest.AccountID), "contact_info": apitest.Object{
			"first_name": registrant.first, "last_name": registrant.last, "email": registrant.local + "@example.com", "organization": registrant.last + " Ltd", "phone": "1",
			"address_1": "Street 1", "city": "Berlin", "state": "Berlin", "zip": "10115", "country": "DE",
		}})
		ids := map[string]bool{}
		for range 8 {
			p := randomPerson(random)
			people = append(people, p)
			response := send("POST", "/mailboxes", created(p))
			if response.Status == http.StatusCreated {
				ids[response.Str("id")] = true
			}
			other := people[random.IntN(len(people))]
			address := p.local + "@example.com"
			for _, call := range []struct {
				method, path string
				body         any
			}{
				{"POST", "/mailboxes", created(p)},
				{"POST", "/mailboxes", created(person{p.first + "\x00", p.last, p.local + ".."})},
				{"POST", "/mailboxes", apitest.Object{"local_part": []string{p.local}, "name": p.first + " " + p.last, "domain": address}},
				{"POST", "/mailboxes", "first_name=" + p.first},
				{"GET", "/mailboxes/" + url.PathEscape(address), nil},
				{"GET", "/mailboxes/" + url.PathEscape(p.local), nil},
				{"GET", "/mailboxes/%22" + url.PathEscape(p.local) + "%22", nil},
				{"GET", "/mailboxes?page_size=25&domain=" + url.QueryEscape(address), nil},
				{"GET", "/mailboxes?search=" + url.QueryEscape(other.last), nil},
				{"GET", "/mailboxes?search=" + url.QueryEscape(strings.ToUpper(other.local)), nil},
				{"GET", "/mailboxes?search=example&person=" + url.QueryEscape(other.first), nil},
				{"PATCH", "/mailboxes/" + url.PathEscape(strings.ToUpper(address)), apitest.Object{"last_name": randomPerson(random).last}},
				{"POST", "/forwarding", apitest.Object{"domain": "example.com", "target_email": p.first + " " + p.last + " <" + address + ">"}},
				{"POST", "/forwarding", apitest.Object{"domain": "example.com", "target_email": p.local + "@other.example"}},
				{"POST", "/forwarding", apitest.Object{"domain": "example.com", "target_email": p.local}},
				{"POST", "/forwarding", apitest.Object{"domain": "example.com", "target_email": p.first + " " + p.last}},
				{"GET", "/forwarding?search=" + url.QueryEscape(p.local), nil},
				{"POST", "/workspaces", apitest.Object{"name": p.first + "'s team"}},
				{"POST", "/dns-records", apitest.Object{"domain": "example.com", "name": "_dmarc", "type": "TXT", "value": "v=DMARC1; p=none; rua=mailto:" + strings.ReplaceAll(address, "'", "")}},
				{"POST", "/mailboxes/bulk", apitest.Object{"domain": "example.com", "items": []any{apitest.Object{"local_part": other.local, "first_name": p.first, "last_name": p.last}}}},
				{"POST", "/mailboxes/export", apitest.Object{"mailboxes": []string{address}}},
				{"POST", "/mailboxes/export", apitest.Object{"mailboxes": []string{p.local}}},
				{"POST", "/feedback", apitest.Object{"title": "From " + p.local, "description": p.mention(random), "attributes": apitest.Object{"by": p.local, p.first: 1}}},
				{"GET", "/audit-log?object=" + url.QueryEscape(address), nil},
				{"GET", "/domains/" + url.PathEscape(address), nil},
			} {
				if random.IntN(3) > 0 {
					send(call.method, call.path, call.body)
				}
			}
		}
		list := send("GET", "/mailboxes?page_size=100", nil)
		for _, mailbox := range list.JSON.(map[string]any)["items"].([]any) {
			ids[mailbox.(map[string]any)["id"].(string)] = true
		}
		var text bytes.Buffer
		assert.NilError(t, r.proxy.WriteRecording(&text))
		if i := strings.Index(strings.ToLower(text.String()), mark); i >= 0 {
			t.Errorf("seed %d: the recording contains %q", seed, text.String()[max(i-200, 0):min(i+100, text.Len())])
		}
		for id := range ids {
			assert.Check(t, strings.Contains(text.String(), id), "seed %d: the recording lacks the id %s", seed, id)
		}
		var c cassette.Cassette
		assert.NilError(t, yaml.Unmarshal(text.Bytes(), &c))
		offline := r.offline(t)
		for _, i := range c.Interactions {
			_, path, _ := strings.Cut(i.Request.URL, apitest.AccountID)
			var body any
			if i.Request.Body != "" {
				body = i.Request.Body
			}
			response, err := offline.Try(t.Context(), i.Request.Method, path, body)
			assert.NilError(t, err)
			same := response.Status == i.Response.Code
			if same && response.Status/100 == 2 && strings.HasPrefix(path, "/mailboxes") {
				same = members(response.Raw) == members([]byte(i.Response.Body))
			}
			if !assert.Check(t, same, "seed %d: %s %s %s\nwas  %d %s\nnow  %d %s", seed, i.Request.Method, path, i.Request.Body, i.Response.Code, i.Response.Body, response.Status, response.Raw) {
				return
			}
		}
		var last struct{ Items []apitest.Object }
		assert.NilError(t, json.Unmarshal([]byte(c.Interactions[len(c.Interactions)-1].Response.Body), &last))
		assert.Check(t, is.Len(last.Items, len(list.JSON.(map[string]any)["items"].([]any))))
		locals := map[any]bool{}
		for _, mailbox := range last.Items {
			assert.Check(t, is.Equal(mailbox["primary_email"], mailbox["local_part"].(string)+"@example.com"))
			assert.Check(t, !locals[mailbox["local_part"]], "two mailboxes are %v", mailbox["local_part"])
			locals[mailbox["local_part"]] = true
		}
		if t.Failed() {
			return
		}
	}
}
