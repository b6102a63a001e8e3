package control_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
)

func TestFaultsOverHTTP(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	added := h.want(201, "POST", "/faults", `{"operation":"list-domains","hold":"before","times":1}`)
	path := "/faults/" + added["id"].(string)
	assert.Check(t, added["operation"] == "list-domains" && added["held"] == 0.0 && added["matched"] == 0.0, "added: %v", added)
	result := h.want(409, "GET", path+"?held=1&timeout=1ms", "")
	assert.Check(t, strings.Contains(result["error"].(string), "holds 0 requests"), "%v", result)
	responses := h.network.later("GET", "/domains", "")
	state := h.want(200, "GET", path+"?held=1", "")
	assert.Check(t, state["held"] == 1.0 && state["fired"] == 1.0, "%v", state)
	released := h.want(200, "POST", path+"/release", "")
	assert.Check(t, released["released"] == 1.0, "%v", released)
	a := apitest.Receive(t, responses)
	assert.Check(t, a.status == 200, "%+v", a)
	h.add(fault.Rule{Operation: "get-mailbox", Path: map[string]string{"mailbox": "a@b.c"}, Truncate: new(0), Delay: apiserver.Duration(time.Second)})
	var list struct{ Items []fault.State } // a Go program decodes the JSON
	err := json.Unmarshal(h.raw("GET", "/faults", "").Body.Bytes(), &list)
	assert.Assert(t, err == nil && len(list.Items) == 2, "%v, %+v", err, list)
	f := list.Items[1]
	assert.Check(t, f.Path["mailbox"] == "a@b.c" && f.Delay == apiserver.Duration(time.Second) && *f.Truncate == 0, "%+v", f)
	h.want(204, "DELETE", path, "")
	for _, call := range [][2]string{{"GET", path}, {"GET", path + "?held=1"}, {"DELETE", path}, {"POST", path + "/release"}} {
		h.want(404, call[0], call[1], "")
	}
	h.want(201, "POST", "/faults", `{"operation":"*","drop":"after","delay":"1ms","percent":2.5,"seed":7}`)
	h.want(204, "DELETE", "/faults", "")
	if list := h.want(200, "GET", "/faults", ""); len(list["items"].([]any)) != 0 {
		t.Errorf("%v", list)
	}
	for query, status := range map[string]int{"held=x": 422, "held=-1": 422, "timeout=1": 422, "timeout=2h": 422} {
		h.want(status, "GET", path+"?"+query, "")
	}
}

// TestAwaitHeldEndsWithADrain checks that a client that waits for a held request does not
// block the shutdown of the service.
func TestAwaitHeldEndsWithADrain(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	id := h.add(fault.Rule{Operation: fault.Any, Hold: fault.Before})
	h.service.Drain()
	h.want(409, "GET", "/faults/"+id+"?held=1&timeout=1m", "")
}

func TestInvalidFaults(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for body, wants := range map[string][]string{
		``:   {"JSON object"},
		`[]`: {"JSON object"},
		`{}`: {`operation: unknown id ""`, "status, drop, hold, truncate, page_size, delay: set one"},
		`{"operation":"nope","status":200,"nth":1,"every":2,"when":"now"}`: {
			`unknown field "when"; there are operation, account`, "status: must be 400 to 599", "nth, every, percent: set at most one", `operation: unknown id "nope"`,
		},
		`{"operation":"get-mailbox","status":500,"drop":"after","account":"x","path":{"domain":"x"}}`: {
			"account: must be", `path: the operation has no parameter "domain"`, "status, drop, hold, truncate, page_size: set exactly one",
		},
		`{"operation":"*","drop":"during"}`:                       {"drop: must be before or after"},
		`{"operation":"*","hold":"x"}`:                            {"hold: must be before or after"},
		`{"operation":"*","truncate":-1}`:                         {"truncate: must be"},
		`{"operation":"*","truncate":"1"}`:                        {"truncate: must be an integer"},
		`{"operation":"*","status":500,"percent":0}`:              {"percent: must not be 0; leave it out"},
		`{"operation":"*","status":500,"percent":101}`:            {"percent: must be above 0"},
		`{"operation":"*","status":500,"percent":"1"}`:            {"percent: must be a number"},
		`{"operation":"*","status":500,"seed":1}`:                 {"seed: requires percent"},
		`{"operation":"*","status":500,"times":-1}`:               {"nth, every, times: must be 1 or more"},
		`{"operation":"*","drop":"after","retry_after":1}`:        {"retry_after, after: require status"},
		`{"operation":"*","status":500,"retry_after":1e9}`:        {"retry_after: must be"},
		`{"operation":"*","delay":5}`:                             {`delay: must be a duration such as "250ms"`},
		`{"operation":"*","delay":"-5s"}`:                         {"delay: must not be negative"},
		`{"operation":"*","status":500,"after":"yes","path":"x"}`: {"after: must be true or false", "path: must be an object"},
		`{"operation":"*","jitter":true,"html":true,"retry_after_date":true,"rst":true,"page_size":-1}`: {
			"jitter: requires delay", "html: requires status", "retry_after_date: requires retry_after", "rst: requires drop", "page_size: must be",
		},
		`{"operation":null,"status":500}`:                                             {"operation: must not be null"},
		`{"operation":"*","status":500,"note":"` + strings.Repeat("x", 20<<10) + `"}`: nil,
	} {
		want := 422
		if wants == nil {
			want = 413
		}
		result := h.want(want, "POST", "/faults", body)
		for _, part := range wants {
			assert.Check(t, is.Contains(result["error"].(string), part), "%s", body)
		}
	}
	n := len(h.plane.Faults.Rules())
	assert.Check(t, n <= 0, "%d faults were added", n)
}
