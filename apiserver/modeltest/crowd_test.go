package modeltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
)

// crowdClient is one client of a crowd.
type crowdClient struct {
	*crowd
	random *rand.Rand
	own    string // a name that no other client uses
}

func pick[T any](r *crowdClient, values ...T) T { return values[r.random.IntN(len(values))] }

// step sends one request. The service may execute the clients' requests in any order,
// so each response has to be possible in some order.
func (r *crowdClient) step() {
	pick(r,
		r.buy, r.dropDomain, r.mailbox, r.mailbox, r.mailbox, r.mailboxes, r.rename, r.drop("mailbox", "/mailboxes/"), r.drop("mailbox", "/mailboxes/"),
		r.rule, r.drop("forwarding", "/forwarding/"), r.claim, r.drop("ip", "/dedicated-ips/"), r.record, r.record, r.drop("record", "/dns-records/"), r.read,
	)()
}

// expect fails the test unless the status is possible.
func (r *crowdClient) expect(what string, status int, raw []byte, allowed ...int) {
	if !slices.Contains(allowed, status) {
		r.t.Errorf("%s: %d %s; want one of %v", what, status, raw, allowed)
	}
}

// result has the members of a response that the test needs.
type result struct {
	ID      any
	Results []struct {
		ID     string
		Status string
		Code   string `json:"error_code"`
	}
	Created []struct{ Mailbox struct{ ID string } }
	Failed  []struct{ Code string }
	Items   []any
	Total   int
	Detail  []struct{ Loc []string }
}

func (r *crowdClient) decode(raw []byte) (t result) {
	numbers := json.NewDecoder(bytes.NewReader(raw))
	numbers.UseNumber() // the ids of records
	if err := numbers.Decode(&t); err != nil {
		r.t.Errorf("%s: %s", err, raw)
	}
	return t
}

// key returns one of a few keys that all clients share, or none.
func (r *crowdClient) key(operation int) string {
	if r.random.IntN(3) > 0 {
		return ""
	}
	return fmt.Sprintf("00000000-0000-4000-8000-%06d%06d", operation, r.random.IntN(4))
}

// create sends a creation and records the object.
func (r *crowdClient) create(kind, path string, body any, key string, allowed ...int) {
	status, raw := r.send("POST", path, body, key)
	r.expect(kind, status, raw, append(allowed, 201)...)
	t := r.decode(raw)
	if status != 201 {
		return // a rejected request is evaluated again
	}
	r.make(kind, fmt.Sprint(t.ID), key)
	if key != "" {
		r.same(key, raw)
	}
}

func (r *crowdClient) domain() string { return pick(r, "alpha.com", "beta.net") }

func (r *crowdClient) buy() {
	name := r.domain()
	status, raw := r.send("POST", "/domains/purchase", obj{"domains": []string{name, name}, "workspace_id": derived(accountID, "workspace:default"), "contact_info": contact()}, "")
	r.expect("purchase", status, raw, 200)
	for i, result := range r.decode(raw).Results {
		if result.Status == "purchased" && i == 0 {
			r.make("domain", result.ID, "")
		} else if result.Code != "already_owned" {
			r.t.Errorf("the purchase of %s: %s", name, raw)
		}
	}
}

func (r *crowdClient) dropDomain() {
	if r.random.IntN(3) == 0 {
		r.drop("domain", "/domains/")()
	}
}

func (r *crowdClient) mailbox() {
	// Requests with the same key are identical.
	key := r.key(1)
	body := obj{"domain": r.domain(), "local_part": pick(r, "ann", "ANN", "bob", r.own), "first_name": "f", "last_name": "l"}
	if key != "" {
		body["domain"], body["local_part"] = "alpha.com", "keyed"+key[len(key)-1:]
	}
	r.create("mailbox", "/mailboxes", body, key, 409, 422)
}

func (r *crowdClient) mailboxes() {
	var items []obj
	for _, local := range []string{"ann", "Bob", r.own, r.own + "x", "ann"} {
		items = append(items, obj{"local_part": local, "first_name": "f", "last_name": "l"})
	}
	status, raw := r.send("POST", "/mailboxes/bulk", obj{"domain": r.domain(), "items": items}, "")
	r.expect("bulk", status, raw, 200, 422)
	t := r.decode(raw)
	for _, c := range t.Created {
		r.make("mailbox", c.Mailbox.ID, "")
	}
	if status == 200 && len(t.Created)+len(t.Failed) != len(items) {
		r.t.Errorf("the bulk request of %d items: %s", len(items), raw)
	}
}

func (r *crowdClient) rename() {
	status, raw := r.send("PATCH", "/mailboxes/"+r.any("mailbox", r.random), obj{"first_name": r.own}, "")
	r.expect("rename", status, raw, 200, 404)
}

// drop deletes a created object, if it still exists.
func (r *crowdClient) drop(kind, path string) func() {
	return func() {
		id := r.any(kind, r.random)
		if id == unknownID {
			return
		}
		status, raw := r.send("DELETE", path+id, nil, "")
		allowed := []int{204, 404}
		if kind == "domain" {
			allowed = append(allowed, 409)
		}
		r.expect("deletion of a "+kind, status, raw, allowed...)
		if status == 204 {
			r.remove(kind, id)
		}
	}
}

func (r *crowdClient) rule() {
	r.create("forwarding", "/forwarding", obj{"target_email": pick(r, "x@example.net", "y@example.net", "X@EXAMPLE.net", r.own+"@example.net")}, "", 409)
}

func (r *crowdClient) claim() {
	r.create("ip", "/dedicated-ips/claim", obj{"option_id": derived(accountID, "dedicated-ip-option:eu")}, r.key(2), 409)
}

func (r *crowdClient) record() {
	typ := pick(r, "CNAME", "A")
	value := map[string]string{"CNAME": pick(r, "a", "b") + ".example.net", "A": "192.0.2." + pick(r, "1", "2", "3")}[typ]
	r.create("record", "/dns-records", obj{"domain": r.domain(), "name": pick(r, "www", "WWW", r.own), "type": typ, "value": value}, "", 409, 422)
}

// read reads a page. It is a consistent snapshot, so the items match the total.
func (r *crowdClient) read() {
	path := pick(r, "/mailboxes", "/mailboxes?search=ann", "/domains", "/dedicated-ips", "/forwarding")
	status, raw := r.send("GET", path, nil, "")
	r.expect("list", status, raw, 200)
	if t := r.decode(raw); len(t.Items) != min(t.Total, 25) {
		r.t.Errorf("%s has %d items of %d", path, len(t.Items), t.Total)
	}
}
