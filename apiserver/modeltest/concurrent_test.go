package modeltest

import (
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
	goroutines = 8
	// requestsEach is how many requests each client sends, one after another.
	requestsEach = 50
	rounds       = 2
)

// crowd is the clients of one service, with their responses for the checks at the end.
type crowd struct {
	t *testing.T
	// replicas are the servers, which take turns.
	replicas []*apitest.Client
	requests atomic.Int64

	mu      sync.Mutex
	created map[string]thing  // by kind and id
	deleted map[string]int    // how often a deletion succeeded
	bodies  map[string][]byte // of the responses under each Idempotency-Key
}

// thing is an object in a response.
type thing struct{ kind, id string }

func (t thing) String() string { return t.kind + " " + t.id }

// TestConcurrentModel sends random requests from many clients, for a few shared names
// and some of their own.
func TestConcurrentModel(t *testing.T) {
	t.Parallel()
	for round := range rounds {
		t.Run(fmt.Sprint("seed ", round), func(t *testing.T) {
			newCrowd(t, apitest.OpenStore(t)).run(round)
		})
	}
}

// TestConcurrentModelOfReplicas is TestConcurrentModel with several servers.
func TestConcurrentModelOfReplicas(t *testing.T) {
	t.Parallel()
	newCrowd(t, openReplicas(t)...).run(rounds)
}

// newCrowd starts a server for each store.
func newCrowd(t *testing.T, stores ...store.Store) *crowd {
	c := &crowd{t: t, created: map[string]thing{}, deleted: map[string]int{}, bodies: map[string][]byte{}}
	for _, s := range stores {
		server := apitest.New(t, func(o *apiserver.Options) { o.Store, o.Clock = s, func() time.Time { return start } })
		c.replicas = append(c.replicas, server.Client)
	}
	return c
}

// run sends the requests of all clients, and checks the responses.
func (c *crowd) run(seed int) {
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
	c.checkTogether()
}

// send sends a request. Any response except a server error is accepted.
func (c *crowd) send(method, path string, body any, key string) (status int, raw []byte) {
	client := c.replicas[c.requests.Add(1)%int64(len(c.replicas))]
	r, err := client.Try(c.t.Context(), method, path, body, "Idempotency-Key", key)
	if err != nil || r.Status >= 500 {
		c.t.Errorf("%s %s: %v %v", method, path, r, err)
		return 0, nil
	}
	return r.Status, r.Raw
}

// make records a created object. The same object may only be returned twice for one
// key.
func (c *crowd) make(kind, id, key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	made := thing{kind, id}
	if _, twice := c.created[made.String()]; twice && key == "" {
		c.t.Errorf("%s is created twice", made)
	}
	c.created[made.String()] = made
}

// same compares the responses for one key, which must be equal.
func (c *crowd) same(key string, raw []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if before, known := c.bodies[key]; known && string(before) != string(raw) {
		c.t.Errorf("the key %s has two responses: %s and %s", key, before, raw)
	}
	c.bodies[key] = raw
}

func (c *crowd) remove(kind, id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deleted[thing{kind: kind, id: id}.String()]++
}

// any returns the id of a created object, deleted or not.
func (c *crowd) any(kind string, random *rand.Rand) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var ids []string
	for _, made := range c.created {
		if made.kind == kind {
			ids = append(ids, made.id)
		}
	}
	if len(ids) == 0 {
		return unknownID
	}
	slices.Sort(ids)
	return ids[random.IntN(len(ids))]
}

// listed reads all pages of a list, with a small page size, and checks the totals.
// filter is further query parameters.
func (c *crowd) listed(path, filter string) []map[string]any {
	const size = 7
	var all []map[string]any
	seen := map[string]bool{}
	for page := 1; ; page++ {
		var body struct {
			Items []map[string]any
			Total int
		}
		_, raw := c.send("GET", fmt.Sprintf("%s?page=%d&page_size=%d%s", path, page, size, filter), nil, "")
		if err := json.Unmarshal(raw, &body); err != nil {
			c.t.Fatal(err)
		}
		for _, item := range body.Items {
			if number, ok := item["id"].(float64); ok { // a record's
				item["id"] = fmt.Sprintf("%.0f", number)
			}
			if id := fmt.Sprint(item["id"]); seen[id] {
				c.t.Errorf("%s lists %s twice", path, id)
			} else {
				seen[id] = true
			}
		}
		all = append(all, body.Items...)
		if len(body.Items) == 0 {
			if len(all) != body.Total {
				c.t.Errorf("%s lists %d of %d", path, len(all), body.Total)
			}
			return all
		}
	}
}

// checkTogether compares the lists at the end with all responses.
func (c *crowd) checkTogether() {
	left := map[string]bool{} // the listed objects, by kind and id
	domains := map[string]bool{}
	for _, d := range c.listed("/domains", "") {
		domains[d["name"].(string)] = true
		left[thing{kind: "domain", id: d["id"].(string)}.String()] = true
	}
	c.unique("/mailboxes", "mailbox", left, func(item map[string]any) string {
		if !domains[item["domain_name"].(string)] {
			c.t.Errorf("the mailbox %s is in a domain that was deleted", item["primary_email"])
		}
		return item["primary_email"].(string)
	})
	c.unique("/forwarding", "forwarding", left, func(item map[string]any) string { return item["target_email"].(string) })
	c.unique("/dedicated-ips", "ip", left, func(item map[string]any) string {
		return item["ip_addresses"].([]any)[0].(map[string]any)["ip"].(string)
	})
	claimed := 0
	for name := range left {
		if strings.HasPrefix(name, "ip ") {
			claimed++
		}
	}
	for _, o := range c.listed("/dedicated-ips/options", "") {
		if o["country_code"] == "DE" && o["available"] != float64(addressesOfOption-claimed) {
			c.t.Errorf("%v addresses are available; %d are claimed", o["available"], claimed)
		}
	}
	c.checkRecords(domains, left)
	for name, made := range c.created {
		n := c.deleted[name]
		switch {
		case n > 1:
			c.t.Errorf("%s was deleted %d times", name, n)
		case n == 1 && left[name]:
			c.t.Errorf("%s was deleted and is listed", name)
		case n == 0 && !left[name] && made.kind != "record": // records are deleted with their domain
			c.t.Errorf("%s was created, not deleted, and is not listed", name)
		}
	}
	for name := range left {
		if _, known := c.created[name]; !known {
			c.t.Errorf("%s is listed but was never created", name)
		}
	}
}

// unique checks that listed items don't share unique values.
func (c *crowd) unique(path, kind string, left map[string]bool, of func(map[string]any) string) {
	owners := map[string]any{}
	for _, item := range c.listed(path, "") {
		what := of(item)
		if other, twice := owners[what]; twice {
			c.t.Errorf("%s: %v and %v both have %s", path, other, item["id"], what)
		}
		owners[what] = item["id"]
		left[thing{kind: kind, id: item["id"].(string)}.String()] = true
	}
}

// checkRecords checks that each domain has exactly its own records, and that a CNAME is
// alone at its name.
func (c *crowd) checkRecords(domains, left map[string]bool) {
	listed, system := 0, map[int]bool{}
	for name := range domains {
		own, types := 0, map[any][]any{}
		for _, r := range c.listed("/dns-records", "&domain="+name) {
			listed++
			types[r["name"]] = append(types[r["name"]], r["type"])
			if r["is_system_managed"] == true {
				own++
			} else {
				left[thing{kind: "record", id: fmt.Sprint(r["id"])}.String()] = true
			}
		}
		system[own] = true
		for at, all := range types {
			if slices.Contains(all, any("CNAME")) && len(all) > 1 {
				c.t.Errorf("%v of %s has %v", at, name, all)
			}
		}
	}
	if len(system) > 1 || system[0] {
		c.t.Errorf("the domains have different numbers of system-managed records: %v", system)
	}
	if all := c.listed("/dns-records", ""); len(all) != listed {
		c.t.Errorf("%d records are listed, and %d by domain", len(all), listed)
	}
}
