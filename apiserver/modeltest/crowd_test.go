package modeltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

const (
	goroutines   = 8
	requestsEach = 50 // of each client, one after another
	rounds       = 2
)

// crowd is the clients of one account, with their responses for the checks at the end. An
// object is identified by its path, such as /mailboxes/ and its id.
type crowd struct {
	t        *testing.T
	replicas []*apitest.Client // they take turns
	requests atomic.Int64

	mu      sync.Mutex
	created map[string]bool
	deleted map[string]int    // how often a deletion succeeded
	bodies  map[string]string // of the responses under each Idempotency-Key
}

// TestConcurrentModel sends random requests from many clients, for a few shared names
// and some of their own.
func TestConcurrentModel(t *testing.T) {
	t.Parallel()
	for round := range rounds {
		t.Run(fmt.Sprint("seed ", round), func(t *testing.T) { runCrowd(t, round, apitest.OpenStore(t)) })
	}
}

// TestConcurrentModelOfReplicas is TestConcurrentModel with several servers.
func TestConcurrentModelOfReplicas(t *testing.T) {
	t.Parallel()
	runCrowd(t, rounds, openReplicas(t, new(statements))...)
}

// runCrowd sends the requests of all clients to a server for each store, and checks the
// responses.
func runCrowd(t *testing.T, seed int, stores ...store.Store) {
	c := &crowd{t: t, created: map[string]bool{}, deleted: map[string]int{}, bodies: map[string]string{}}
	for _, s := range stores {
		server := apitest.New(t, func(o *apiserver.Options) { o.Store, o.Clock = s, func() time.Time { return start } })
		c.replicas = append(c.replicas, server.Client)
	}
	var all sync.WaitGroup
	for n := range goroutines {
		all.Go(func() {
			r := &crowdClient{crowd: c, random: rand.New(rand.NewPCG(uint64(seed), uint64(n))), own: fmt.Sprint("own", n)}
			for range requestsEach {
				r.step()
			}
		})
	}
	all.Wait()
	c.check()
}

// result contains the members of a response that the test reads.
type result struct {
	raw     []byte
	status  int
	ID      any
	Results []struct {
		ID, Status string
		Code       string `json:"error_code"`
	}
	Created []struct{ Mailbox struct{ ID string } }
	Failed  []struct{ Code string }
	Items   []obj
	Total   int
}

// send sends a request, and fails the test unless the status code is possible.
func (c *crowd) send(method, path string, body any, key string, possible ...int) (t result) {
	client := c.replicas[c.requests.Add(1)%int64(len(c.replicas))]
	r, err := client.Try(c.t.Context(), method, path, body, "Idempotency-Key", key)
	if err != nil || !slices.Contains(possible, r.Status) {
		c.t.Errorf("%s %s: %v, error %v; want one of %v", method, path, r, err, possible)
		return t
	}
	numbers := json.NewDecoder(bytes.NewReader(r.Raw))
	numbers.UseNumber() // the ids of records
	if err := numbers.Decode(&t); err != nil && len(r.Raw) > 0 {
		c.t.Errorf("%s: %s", err, r.Raw)
	}
	t.raw, t.status = r.Raw, r.Status
	return t
}

// make records a created object. Only responses to one key may have the same object.
func (c *crowd) make(path, key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.created[path] && key == "" {
		c.t.Errorf("%s is created twice", path)
	}
	c.created[path] = true
}

// any returns the path of a created object of a list, deleted or not, or "".
func (c *crowd) any(list string, random *rand.Rand) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var paths []string
	for path := range c.created {
		if strings.HasPrefix(path, list+"/") {
			paths = append(paths, path)
		}
	}
	if len(paths) == 0 {
		return ""
	}
	slices.Sort(paths)
	return paths[random.IntN(len(paths))]
}

// listed reads all pages of a list and checks the totals. filter is further query parameters.
func (c *crowd) listed(path, filter string) (all []obj) {
	const size = 7
	for page := 1; ; page++ {
		t := c.send("GET", fmt.Sprintf("%s?page=%d&page_size=%d%s", path, page, size, filter), nil, "", 200)
		if all = append(all, t.Items...); len(t.Items) == 0 {
			if len(all) != t.Total {
				c.t.Errorf("%s lists %d of %d", path, len(all), t.Total)
			}
			return all
		}
	}
}

// check compares the lists at the end with all responses.
func (c *crowd) check() {
	left, taken := map[string]bool{}, map[string]bool{}
	for _, list := range [][2]string{{"/domains", "name"}, {"/mailboxes", "primary_email"}, {"/forwarding", "target_email"}, {"/dedicated-ips", "ip_addresses"}, {"/dns-records", "id"}} {
		for _, o := range c.listed(list[0], "") {
			name := fmt.Sprint(list[0], " ", o[list[1]])
			if taken[name] {
				c.t.Errorf("two objects are %s", name)
			}
			taken[name] = true
			if domain, ok := o["domain_name"]; ok && !taken[fmt.Sprint("/domains ", domain)] {
				c.t.Errorf("%s is in a domain that was deleted", name)
			}
			if o["is_system_managed"] != true {
				left[fmt.Sprint(list[0], "/", o["id"])] = true
			}
		}
	}
	for _, d := range c.listed("/domains", "") {
		types := map[any][]any{}
		for _, r := range c.listed("/dns-records", fmt.Sprint("&domain=", d["id"])) {
			types[r["name"]] = append(types[r["name"]], r["type"])
		}
		for at, all := range types {
			if slices.Contains(all, any("CNAME")) && len(all) > 1 {
				c.t.Errorf("%v of %s has %v", at, d["name"], all)
			}
		}
	}
	for path := range c.created {
		n := c.deleted[path]
		isLost := n == 0 && !left[path] && !strings.HasPrefix(path, "/dns-records/") // records are deleted with their domain
		if n > 1 || n == 1 && left[path] || isLost {
			c.t.Errorf("%s was created and %d times deleted; it is listed: %t", path, n, left[path])
		}
	}
	for path := range left {
		if !c.created[path] {
			c.t.Errorf("%s is listed but was never created", path)
		}
	}
}

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
	domain := pick(r, "alpha.com", "beta.net")
	what := pick(r, "buy", "mailbox", "mailbox", "mailbox", "bulk", "rename", "rule", "claim", "record", "record", "read",
		"/domains", "/mailboxes", "/mailboxes", "/forwarding", "/dedicated-ips", "/dns-records")
	switch what {
	case "buy":
		t := r.send("POST", "/domains/purchase", obj{"domains": []string{domain, domain}, "workspace_id": derived(accountID, "workspace:default"), "contact_info": contact()}, "", 200)
		for i, bought := range t.Results {
			if bought.Status == "purchased" && i == 0 {
				r.make("/domains/"+bought.ID, "")
			} else if bought.Code != "already_owned" {
				r.t.Errorf("the purchase of %s: %s", domain, t.raw)
			}
		}
	case "mailbox":
		key, local := r.key(1), pick(r, "ann", "ANN", "bob", r.own)
		if key != "" { // requests with the same key are identical
			domain, local = "alpha.com", "keyed"+key[len(key)-1:]
		}
		r.create("/mailboxes", "", obj{"domain": domain, "local_part": local, "first_name": "f", "last_name": "l"}, key, 409, 422)
	case "bulk":
		var items []obj
		for _, local := range []string{"ann", "Bob", r.own, r.own + "x", "ann"} {
			items = append(items, obj{"local_part": local, "first_name": "f", "last_name": "l"})
		}
		t := r.send("POST", "/mailboxes/bulk", obj{"domain": domain, "items": items}, "", 200, 422)
		for _, c := range t.Created {
			r.make("/mailboxes/"+c.Mailbox.ID, "")
		}
		if t.status == 200 && len(t.Created)+len(t.Failed) != len(items) {
			r.t.Errorf("the bulk request of %d items: %s", len(items), t.raw)
		}
	case "rename":
		if path := r.any("/mailboxes", r.random); path != "" {
			r.send("PATCH", path, obj{"first_name": r.own}, "", 200, 404)
		}
	case "rule":
		r.create("/forwarding", "", obj{"target_email": pick(r, "x@example.net", "y@example.net", "X@EXAMPLE.net", r.own+"@example.net")}, "", 409)
	case "claim":
		r.create("/dedicated-ips", "/claim", obj{"option_id": derived(accountID, "dedicated-ip-option:eu")}, r.key(2), 409)
	case "record":
		typ := pick(r, "CNAME", "A")
		value := map[string]string{"CNAME": pick(r, "a", "b") + ".example.net", "A": "192.0.2." + pick(r, "1", "2", "3")}[typ]
		r.create("/dns-records", "", obj{"domain": domain, "name": pick(r, "www", "WWW", r.own), "type": typ, "value": value}, "", 409, 422)
	case "read": // a page is a consistent snapshot, so the items match the total
		path := pick(r, "/mailboxes", "/mailboxes?search=ann", "/domains", "/dedicated-ips", "/forwarding")
		if t := r.send("GET", path, nil, "", 200); len(t.Items) != min(t.Total, 25) {
			r.t.Errorf("%s has %d items of %d", path, len(t.Items), t.Total)
		}
	default:
		if what == "/domains" && r.random.IntN(3) > 0 {
			return
		}
		path := r.any(what, r.random)
		if path == "" {
			return
		}
		possible := []int{204, 404}
		if what == "/domains" {
			possible = append(possible, 409)
		}
		if t := r.send("DELETE", path, nil, "", possible...); t.status == 204 {
			r.mu.Lock()
			r.deleted[path]++
			r.mu.Unlock()
		}
	}
}

// key returns one of a few keys that all clients share, or none.
func (r *crowdClient) key(operation int) string {
	if r.random.IntN(3) > 0 {
		return ""
	}
	return fmt.Sprintf("00000000-0000-4000-8000-%06d%06d", operation, r.random.IntN(4))
}

// create sends a create and records the object. All responses to one key have to be equal.
func (r *crowdClient) create(list, suffix string, body any, key string, refusals ...int) {
	t := r.send("POST", list+suffix, body, key, append(refusals, 201)...)
	if t.status != 201 {
		return // a rejected request is evaluated again
	}
	r.make(fmt.Sprint(list, "/", t.ID), key)
	if key == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if before, known := r.bodies[key]; known && before != string(t.raw) {
		r.t.Errorf("the key %s has two responses: %s and %s", key, before, t.raw)
	}
	r.bodies[key] = string(t.raw)
}
