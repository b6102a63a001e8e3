package control_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest/sample"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/journal"
)

// misspelt returns a word without its second letter.
func misspelt(word string) string { return word[:1] + word[2:] }

// wrongValue returns a value that a field of the contract does not accept.
func wrongValue(f *api.Field) any {
	if f.Kind == reflect.String {
		return 5
	}
	return "text"
}

// TestFaultsFollowTheContract derives wrong faults from each operation of the contract, and checks that
// each is refused with a helpful error, and that the right one is accepted.
func TestFaultsFollowTheContract(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	refuse := func(rule map[string]any, words ...string) {
		t.Helper()
		if rule["truncate"] == nil && rule["page_size"] == nil {
			rule["status"] = 500
		}
		text, err := json.Marshal(rule)
		assert.NilError(t, err)
		status, result := h.call("POST", "/faults", string(text))
		assert.Check(t, status == 422, "%s: %d %v", text, status, result)
		for _, word := range words {
			assert.Check(t, is.Contains(fmt.Sprint(result["error"]), word), "%s", text)
		}
	}
	accept := func(rule map[string]any) {
		t.Helper()
		rule["status"] = 500
		text, err := json.Marshal(rule)
		assert.NilError(t, err)
		h.want(201, "POST", "/faults", string(text))
	}
	for _, op := range api.Specs() {
		refuse(map[string]any{"operation": misspelt(op.ID)}, "operation: unknown id", "did you mean")
		for _, f := range api.FieldsOf(op.Request) {
			if f.In != "path" {
				continue
			}
			refuse(map[string]any{"operation": op.ID, "path": map[string]string{misspelt(f.Name): "x"}}, "path: the operation has no parameter", "did you mean "+f.Name+"?")
			for _, value := range []string{"", "x y"} {
				refuse(map[string]any{"operation": op.ID, "path": map[string]string{f.Name: value}}, "path: "+f.Name+":")
			}
			value := sample.UnknownID
			if f.Kind == reflect.Int64 {
				value = "17"
			}
			accept(map[string]any{"operation": op.ID, "path": map[string]string{f.Name: value}})
		}
		if op.Body() == nil {
			refuse(map[string]any{"operation": op.ID, "body": map[string]any{"name": "x"}}, "body: the operation takes no body")
		} else {
			body := sample.Body(op)
			accept(map[string]any{"operation": op.ID, "body": body})
			for _, f := range op.Body().Members {
				refuse(map[string]any{"operation": op.ID, "body": map[string]any{misspelt(f.Name): body[f.Name]}}, "is no member of the operation's body", "did you mean "+f.Name+"?")
				refuse(map[string]any{"operation": op.ID, "body": map[string]any{f.Name: wrongValue(f)}}, "body: "+f.Name+":")
			}
		}
		if _, isList := op.Request.FieldByName("PageSize"); !isList {
			refuse(map[string]any{"operation": op.ID, "page_size": 1}, "page_size: the operation returns no pages")
		}
		if op.Response == reflect.TypeFor[api.NoContent]() {
			refuse(map[string]any{"operation": op.ID, "truncate": 1}, "truncate: the operation returns no body")
		}
	}
	for rule, want := range map[string]string{
		`{"operation":"*","body":{"local_prt":"jane"}}`:                                                              `body: "local_prt" is no member of any operation's body; did you mean local_part?`,
		`{"operation":"*","path":{"mailbx":"jane@example.com"}}`:                                                     "did you mean mailbox?",
		`{"operation":"*","body":{"local_part":"jane"},"path":{"mailbox":"jane@a.com"}}`:                             "select no request of any operation",
		`{"operation":"*","body":{"local_part":5}}`:                                                                  "select no request of any operation: body: local_part:",
		`{"operation":"*","path":{"mailbox":"jane"}}`:                                                                "mailbox:",
		`{"operation":"grant-authorization","body":{"capability_key":"mailbox.veiw"}}`:                               "did you mean mailbox.view?",
		`{"operation":"get-account","account":"` + accountID + `","path":{"account_id":"` + sample.UnknownID + `"}}`: "another account than account",
		`{"operation":"*","headers":{"accept":"a","Accept":"b"}}`:                                                    "is given twice",
		`{"operation":"create-mailbox","body":{"local_part":null}}`:                                                  "body: local_part",
		`{"operation":"create-dns-record","body":{"type":"TXTT"}}`:                                                   "must be one of A,",
		`{"operation":"*","body":{}}`:                                                                                "body: is empty",
		`{"operation":"*","path":{}}`:                                                                                "path: is empty",
		`{"operation":"*","headers":{}}`:                                                                             "headers: is empty",
		`{"operation":"*","account":""}`:                                                                             "account: must be",
		`{"operation":"*","account":"oops"}`:                                                                         "account: must be",
		`{"operation":"*","headers":{"User Agent":"x"}}`:                                                             `headers: "User Agent": is no name`,
		`{"operation":"*","headers":{"User-Agent":""}}`:                                                              "is empty",
		`{"operation":"*","headers":{"User-Agent":"a\nb"}}`:                                                          "control character",
		`{"operation":"*","headers":{"host":"example.com"}}`:                                                         "the server handles this header",
		`{"operation":"*","nth":1,"times":2}`:                                                                        "times: leave it out",
		`{"operation":"*","sttus":500}`:                                                                              "did you mean status?",
		`{"operation":"*","response":{"status":200}}`:                                                                "set exactly one",
	} {
		var members map[string]any
		assert.NilError(t, json.Unmarshal([]byte(rule), &members))
		refuse(members, want)
	}
	for response, want := range map[string]string{
		`{}`:                          "response.status: is required",
		`{"status":100}`:              "response.status: must be 200 to 599",
		`{"status":204,"body":{}}`:    "response.body: a response with this status has none",
		`{"status":200,"headers":{}}`: "response.headers: is empty",
		`{"status":200,"heders":{}}`:  "did you mean headers?",
		`{"status":200,"headers":{"Content-Length":"5"}}`: "the server handles this header",
	} {
		result := h.want(422, "POST", "/faults", `{"operation":"*","response":`+response+`}`)
		assert.Check(t, is.Contains(result["error"], want), response)
	}
	// The Go API checks the same.
	for want, rule := range map[string]fault.Rule{
		"body: is empty":    {Operation: fault.Any, Status: 500, Body: map[string]any{}},
		"path: is empty":    {Operation: fault.Any, Status: 500, Path: map[string]string{}},
		"headers: is empty": {Operation: fault.Any, Status: 500, Headers: map[string]string{}},
		"takes no body":     {Operation: "list-domains", Status: 500, Body: map[string]any{"name": "x"}},
	} {
		_, err := h.plane.Faults.Add(rule)
		assert.Check(t, is.ErrorContains(err, want))
	}
	// A fault without a hold never holds.
	id := h.add(fault.Rule{Operation: fault.Any, Status: 500})
	_, err := h.plane.Faults.AwaitHeld(t.Context(), id, 1)
	assert.Check(t, is.ErrorContains(err, "lacks a hold"))
	h.want(422, "GET", "/faults/"+id+"?held=1", "")
	h.want(422, "POST", "/faults/"+id+"/release", "")
}

// TestFiltersFollowTheContract derives wrong filters from the list of endpoints and from the contract,
// and checks that each is refused.
func TestFiltersFollowTheContract(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.inProcess.must("GET", "/domains", "")
	id := h.add(fault.Rule{Operation: "list-domains", Hold: fault.Before})
	refuse := func(path, want string) {
		t.Helper()
		status, result := h.call("GET", path, "")
		assert.Check(t, status == 422 && strings.Contains(fmt.Sprint(result["error"]), want), "%s: %d %v, want %q", path, status, result, want)
	}
	for _, r := range h.want(200, "GET", "/", "")["routes"].([]any) {
		route := r.(map[string]any)
		path := strings.ReplaceAll(route["path"].(string), "{id}", id)
		parameters, _ := route["query"].([]any)
		for _, p := range parameters {
			name := p.(string)
			refuse(path+"?"+name+"=", name)
			refuse(path+"?"+name+"_id_of=1", "did you mean "+name+"?")
			if known := slices.Contains(parameters, any(misspelt(name))); !known {
				refuse(path+"?"+misspelt(name)+"=1", "did you mean "+name+"?")
			}
		}
	}
	for path, wrong := range map[string]map[string][]string{
		"/journal": {
			"operation": {"create-mailbx"}, "method": {"DELET"}, "account": {"oops", sample.UnknownID}, "fault": {"oops", "f0", "f9", "f01"}, "credential": {"tokens"},
			"path":   {"/mailboxs", "/mailboxes?domain=example.com", "/domain/", "mailboxs"},
			"status": {"0", "9", "101", "600", "2xx"}, "since": {"-1", "x", "99"}, "count": {"-1", "one", ">=1"}, "min_count": {"-1"}, "max_count": {"1.5"}, "wait": {"5", "-1s", "2h"},
		},
		"/outbox":       {"to": {"notanaddress", "a@", "a@b@c"}, "forwarding_id": {"oops"}},
		"/faults/" + id: {"held": {"-1", "x"}, "timeout": {"5", "2h", "1s"}},
	} {
		for name, values := range wrong {
			for _, value := range values {
				refuse(path+"?"+name+"="+url.QueryEscape(value), name+":")
			}
		}
	}
	for query, want := range map[string]string{
		"body=x&method=DELETE": "body:", "operation=get-mailbox&path=/domains": "path:", "operation=list-mailboxes&path=/mailboxes/bulk": "path:",
		"fault=" + id + "&operation=get-mailbox": "operation:", "fault=" + id + "&method=POST": "method:",
		"fault=" + h.add(fault.Rule{Operation: fault.Any, Status: 503}) + "&status=500": "status:", "fault=" + h.add(fault.Rule{Operation: fault.Any, Drop: fault.After}) + "&status=500": "status:",
	} {
		refuse("/journal?"+query, want)
	}
	for _, query := range []string{
		"path=/jane", "path=jane@example.com", "path=/mail", "path=mailboxes", "path=/domains", "path=" + accountID + "/mailboxes", "path=/console", "path=/verify-forwarding/x", "path=boxes/jane", "path=/v1/public", "path=sales",
		"operation=get-mailbox&path=/mailboxes/jane@example.com", "operation=get-mailbox&path=jane", "operation=list-mailboxes&path=/mailboxes", "operation=create-mailboxes&path=/bulk", "operation=get-domain&path=/domains/example.com",
		"fault=" + id + "&operation=list-domains&method=get&status=200",
	} {
		h.want(200, "GET", "/journal?"+query, "")
	}
	h.want(204, "DELETE", "/faults", "")
	h.add(fault.Rule{Operation: "list-domains", Hold: fault.Before})
	methods := []string{"GET", "POST", "PATCH", "DELETE"}
	for _, op := range api.Specs() {
		query := "/journal?operation=" + op.ID
		refuse("/journal?operation="+misspelt(op.ID), "did you mean ")
		for _, method := range methods {
			if status, result := h.call("GET", query+"&method="+method, ""); (status == 200) != (method == op.Method) {
				t.Errorf("%s %s: %d %v", op.ID, method, status, result)
			}
		}
		if op.Body() == nil {
			refuse(query+"&body=x", "body: "+op.ID+" takes no body")
		}
		for _, success := range []int{200, 201, 204} {
			if status, result := h.call("GET", query+fmt.Sprint("&status=", success), ""); (status == 200) != (success == op.Status) {
				t.Errorf("%s with the status %d: %d %v", op.ID, success, status, result)
			}
		}
	}
	// Another success of an operation can come from a fault.
	h.add(fault.Rule{Operation: "create-mailbox", Response: &fault.Response{Status: 200}})
	h.want(200, "GET", "/journal?operation=create-mailbox&status=200", "")
	// The Go API checks the same.
	for want, f := range map[string]journal.Filter{
		"operation: unknown id": {Operation: "create-mailbx"}, "method: unknown": {Method: "DELET"}, "account:": {AccountID: "oops"},
		"fault:": {Fault: "oops"}, "credential:": {Credential: "x"}, "status:": {Status: 9}, "since:": {Since: -1}, "body:": {Operation: "list-domains", Body: "x"},
		"fault: there was no": {Fault: "f99"}, "status: a successful": {Operation: "create-mailbox", Status: 204}, "path:": {Path: "/mailboxs"},
	} {
		func() {
			defer func() { assert.Check(t, is.Contains(fmt.Sprint(recover()), want)) }()
			h.plane.Journal.Entries(f)
		}()
	}
}

// TestFaultsOfPublishedOperations checks that a server without the lifecycle operations refuses faults
// for them.
func TestFaultsOfPublishedOperations(t *testing.T) {
	t.Parallel()
	h := newHarness(t, func(o *apiserver.Options) { o.PublishedOnly = true })
	for _, op := range api.Specs() {
		status, result := h.call("POST", "/faults", `{"operation":"`+op.ID+`","status":500}`)
		assert.Check(t, (status == http.StatusCreated) == !op.Lifecycle(), "%s: %d %v", op.ID, status, result)
		status, result = h.call("GET", "/journal?operation="+op.ID, "")
		assert.Check(t, (status == http.StatusOK) == !op.Lifecycle(), "%s: %d %v", op.ID, status, result)
	}
}

// TestNaturalKeys checks that the key of a request names its object, whatever the ids and the order of
// a list.
func TestNaturalKeys(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	c := h.inProcess
	domain := c.Domain("example.com")
	jane := c.Mailbox("example.com", "jane")
	grant := c.Post("/auth/authorizations", map[string]any{"grant_kind": "capability", "capability_key": "mailbox.view", "subject_type": "user", "subject_id": "u1", "resource_type": "domain", "resource_id": domain}).Want(201).Str("id")
	record := c.CreateRecord("example.com", "www", "TXT", "v").Want(201).At("id")
	h.add(fault.Rule{Operation: fault.Any, Percent: 100, Status: 503})
	item := func(name string) string { return `{"local_part":"` + name + `","first_name":"F","last_name":"L"}` }
	want := map[string][][3]string{
		"create-mailbox domain=example.com local_part=joe": {{"POST", "/mailboxes", mailbox("joe")}, {"POST", "/mailboxes", strings.Replace(mailbox("joe"), "example.com", domain, 1)}},
		"create-mailboxes domain=example.com items=ada,bob": {
			{"POST", "/mailboxes/bulk", `{"domain":"example.com","items":[` + item("ada") + `,` + item("bob") + `]}`},
			{"POST", "/mailboxes/bulk", `{"domain":"` + domain + `","items":[` + item("bob") + `,` + item("ada") + `]}`},
		},
		"get-mailbox mailbox=jane@example.com":                                                 {{"GET", "/mailboxes/" + jane, ""}, {"GET", "/mailboxes/jane@example.com", ""}, {"GET", "/mailboxes/JANE@Example.com", ""}, {"GET", "/mailboxes/" + strings.ToUpper(jane), ""}},
		"list-mailboxes page=2 domain=example.com":                                             {{"GET", "/mailboxes?domain=example.com&page=2", ""}, {"GET", "/mailboxes?page=2&domain=" + domain, ""}, {"GET", "/mailboxes?page=02&domain=EXAMPLE.com.", ""}},
		"delete-dns-record dns_record_id=www.example.com TXT v":                                {{"DELETE", fmt.Sprintf("/dns-records/%.0f", record), ""}},
		"revoke-authorization authorization_id=mailbox.view in domain example.com for user u1": {{"DELETE", "/auth/authorizations/" + grant, ""}},
		"create-master-password domain=example.com name=n":                                     {{"POST", "/credentials", `{"domain":"` + domain + `","name":"n","value":"` + key + `"}`}},
		"create-forwarding target_email=a@example.org workspace_id=Default":                    {{"POST", "/forwarding", `{"target_email":"a@example.org","workspace_id":"` + workspaceID + `"}`}},
		"create-service-account name=ci":                                                       {{"POST", "/auth/service-accounts", `{"name":"ci","expires_at":"2030-01-01T00:00:00Z"}`}},
		"purchase-domains domains=a.com,b.com workspace_id=Default":                            {{"POST", "/domains/purchase", `{"domains":["b.com","a.com"],"workspace_id":"` + workspaceID + `","contact_info":{"phone":"x"}}`}},
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		for n, request := range want[name] {
			c.do(request[0], request[1], request[2])
			entries := h.plane.Journal.Entries(journal.Filter{})
			e := entries[len(entries)-1]
			assert.Check(t, is.Equal(e.Operation+" "+e.Key, name))
			assert.Check(t, is.Equal(e.Attempt, n+1), name)
		}
	}
}
