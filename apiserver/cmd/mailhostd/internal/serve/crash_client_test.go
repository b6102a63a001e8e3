package serve_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest/sample"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
)

// object is a client's expectation of a mailbox, a domain or a forwarding rule. The zero value means
// that it does not exist.
type object struct{ id, lastName string }

// objects are keyed by address, domain name or target address.
type objects map[string]object

const anyID = "any"

// objectsIn calls found for each object in a response: a single object, or those in a list or a bulk request.
func objectsIn(json any, found func(name string, o object)) {
	switch v := json.(type) {
	case []any:
		for _, item := range v {
			objectsIn(item, found)
		}
	case map[string]any:
		id, _ := v["id"].(string)
		lastName, _ := v["last_name"].(string)
		for _, key := range []string{"primary_email", "target_email", "domain_name", "name"} {
			if name, ok := v[key].(string); ok && id != "" {
				found(name, object{id, lastName})
				return
			}
		}
		for _, key := range []string{"items", "created", "mailbox", "results"} {
			objectsIn(v[key], found)
		}
	}
}

// crashClient sends one request after another, each to any of the servers. No two clients use the same objects.
type crashClient struct {
	name   string
	random *rand.Rand
	// api returns the client of a server that runs.
	api   func(*rand.Rand) *apitest.Client
	have  objects
	names int
	// unknown is the request that got no response, or nil.
	unknown *crashRequest
}

// crashRequest is a request that changes objects.
type crashRequest struct {
	method, path string
	body         any
	key          string // Idempotency-Key, or empty
	// after contains the objects after the request. A new object has anyID until the response.
	after objects
}

// send returns the status code, or 0 without a response.
func (c *crashClient) send(r *crashRequest) int {
	var headers []string
	if r.key != "" {
		headers = []string{api.IdempotencyKeyHeader, r.key}
	}
	response, err := c.api(c.random).Try(context.Background(), r.method, r.path, r.body, headers...)
	if err != nil {
		return 0
	}
	if response.Status < 300 {
		objectsIn(response.JSON, func(name string, o object) { r.after[name] = o })
	}
	return response.Status
}

// runUntilUnknown sends requests until stop is closed, or until a request has an unknown outcome because
// its server ended.
func (c *crashClient) runUntilUnknown(acknowledged func(), stop <-chan struct{}) error {
	for {
		select {
		case <-stop:
			return nil
		default:
		}
		r := c.next()
		switch status := c.send(r); {
		case status == 0 || status >= http.StatusInternalServerError:
			c.unknown = r
			return nil
		case status == http.StatusTooManyRequests && r.path == "/forwarding": // messages are limited
		case status >= http.StatusMultipleChoices:
			return fmt.Errorf("%s %s: status %d", r.method, r.path, status)
		default:
			c.set(r.after)
		}
		acknowledged()
		if c.random.IntN(10) == 0 {
			if err := c.checkTotal(); err != nil {
				return err
			}
		}
	}
}

// checkTotal checks that a list of any server contains all changes that any server acknowledged. No
// other client's mailboxes match the search.
func (c *crashClient) checkTotal() error {
	r, err := c.api(c.random).Try(context.Background(), http.MethodGet, "/mailboxes?page_size=1&search="+c.name+"-", nil)
	if err != nil || r.Status >= http.StatusInternalServerError {
		return nil //nolint:nilerr // a list may fail
	}
	if want := len(c.mailboxes()); r.Status != http.StatusOK || r.At("total") != float64(want) {
		return fmt.Errorf("%s has %d mailboxes, and a list has %v (status %d)", c.name, want, r.At("total"), r.Status)
	}
	return nil
}

// mailboxes returns the addresses of the client's mailboxes.
func (c *crashClient) mailboxes() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(c.have)), func(name string) bool { return !strings.HasSuffix(name, "@example.com") })
}

// next draws a request.
func (c *crashClient) next() *crashRequest {
	existing := c.mailboxes()
	r := &crashRequest{method: http.MethodPost, after: objects{}}
	switch draw := c.random.IntN(20); {
	case draw < 2:
		n := 1 + c.random.IntN(30)
		if c.random.IntN(8) == 0 {
			n = api.MaxBulkItems
		}
		var items []apitest.Object
		for range n {
			name := c.newName()
			items = append(items, apitest.Object{"local_part": name, "first_name": "A", "last_name": "B"})
			r.after[name+"@example.com"] = object{anyID, "B"}
		}
		r.path, r.body = "/mailboxes/bulk", apitest.Object{"domain": "example.com", "items": items}
	case draw < 5 && len(existing) > 0:
		address := existing[c.random.IntN(len(existing))]
		r.after[address] = object{c.have[address].id, c.newName()}
		r.method, r.path, r.body = http.MethodPatch, "/mailboxes/"+address, apitest.Object{"last_name": r.after[address].lastName}
	case draw < 8 && len(existing) > 0:
		address := existing[c.random.IntN(len(existing))]
		r.after[address] = object{}
		r.method, r.path = http.MethodDelete, "/mailboxes/"+address
	case draw < 10:
		var names []string
		for range 1 + c.random.IntN(3) {
			names = append(names, c.newName()+".com")
			r.after[names[len(names)-1]] = object{id: anyID}
		}
		r.path, r.body = "/domains/purchase", apitest.Object{"domains": names, "workspace_id": c.api(c.random).DefaultWorkspace(), "contact_info": sample.Contact()}
	case draw < 12: // to another account, so that it has to be verified by a message
		target := c.newName() + "@example.org"
		r.after[target] = object{id: anyID}
		r.path, r.body = "/forwarding", apitest.Object{"target_email": target}
	default:
		name := c.newName()
		r.after[name+"@example.com"] = object{anyID, "B"}
		r.path, r.body = "/mailboxes", mailhostdtest.Mailbox("example.com", name)
	}
	if r.method == http.MethodPost && c.random.IntN(2) == 0 {
		r.key = uuid.Must(uuid.NewRandomFromReader(randomBytes{c.random})).String()
	}
	return r
}

func (c *crashClient) newName() string {
	c.names++
	return fmt.Sprintf("%s-%d", c.name, c.names)
}

// randomBytes are bytes determined by a seed.
type randomBytes struct{ *rand.Rand }

func (r randomBytes) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(r.IntN(256))
	}
	return len(p), nil
}

// resolve finds out from the existing objects whether the request without a response was executed: as a
// whole, or not at all.
func (c *crashClient) resolve(found objects) error {
	r := c.unknown
	if c.unknown = nil; r == nil {
		return nil
	}
	done, undone := 0, 0
	resolved := objects{}
	for name, after := range r.after {
		got := found[name]
		switch resolved[name] = got; {
		case got == after, after.id == anyID && got.id != "" && got.lastName == after.lastName:
			done++
		case got == c.have[name]:
			undone++
		default:
			return fmt.Errorf("%s is %v after a request without a response, %s %s", name, got, r.method, r.path)
		}
	}
	if done > 0 && undone > 0 {
		return fmt.Errorf("%s %s without a response was executed in part: %d of %d objects", r.method, r.path, done, done+undone)
	}
	c.set(resolved)
	if r.key == "" {
		return nil
	}
	// A retry is replayed, or executes the request for the first time.
	switch status := c.send(r); {
	case status == http.StatusTooManyRequests:
		return nil
	case status == 0 || status >= http.StatusMultipleChoices:
		return fmt.Errorf("the retry of %s %s with its key: status %d", r.method, r.path, status)
	}
	for name, after := range r.after {
		if before := c.have[name]; before.id != "" && before != after {
			return fmt.Errorf("the retry of %s %s with its key: %s is %v, and was %v", r.method, r.path, name, after, before)
		}
	}
	c.set(r.after)
	return nil
}

// set records the current objects.
func (c *crashClient) set(now objects) {
	maps.Copy(c.have, now)
	maps.DeleteFunc(c.have, func(_ string, o object) bool { return o.id == "" })
}
