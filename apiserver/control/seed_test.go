package control_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/journal"
)

// TestASeedIsARun checks that concurrent clients meet the same faults in each run with the same seed,
// although ids and the order of the requests differ, and that an account's faults do not depend on
// another account.
func TestASeedIsARun(t *testing.T) {
	t.Parallel()
	first := run(t, 7, "example.com", "example.net")
	assert.Check(t, len(first[0]) > 20 && len(first[1]) > 20, "%d and %d faults", len(first[0]), len(first[1]))
	assert.Check(t, is.DeepEqual(run(t, 7, "example.com", "example.net"), first), "with the same seed")
	assert.Check(t, is.DeepEqual(run(t, 7, "example.com"), first[:1]), "without the other account")
	other := run(t, 8, "example.com")
	assert.Check(t, !slices.Equal(other[0], first[0]), "another seed has the same faults")
	for _, f := range slices.Concat(first...) {
		assert.Check(t, !strings.Contains(f, "First") && !strings.Contains(f, "hunter2"), "a setting is in the key: %s", f)
	}
}

// run lets concurrent clients change accounts with a domain each through faults, and returns the
// faults of each account.
func run(t *testing.T, seed uint64, domains ...string) (faults [][]string) {
	t.Helper()
	plane := new(control.Plane)
	plane.Faults.Seed = seed
	s := apitest.New(t, func(o *apiserver.Options) { o.Clock, o.Middleware = plane.Clock.Now, plane.Middleware })
	var owners []caller
	for n, domain := range domains {
		owner := caller{s.Owner(t, fmt.Sprintf("7c9e6679-7425-40de-944b-00000000000%d", n))}
		owner.Domain(domain)
		owners = append(owners, owner)
	}
	for _, r := range []fault.Rule{{Percent: 15, Status: 503}, {Percent: 10, Drop: fault.After}, {Percent: 5, Drop: fault.Before}} {
		r.Operation = fault.Any
		_, err := plane.Faults.Add(r)
		assert.NilError(t, err)
	}
	var all sync.WaitGroup
	for n, domain := range domains {
		for _, object := range rand.Perm(24) {
			all.Go(func() { retrying{owners[n], domain}.live(object) })
		}
	}
	all.Wait()
	for _, owner := range owners {
		var found []string
		for _, e := range plane.Journal.Entries(journal.Filter{AccountID: owner.Account}) {
			if e.Fault != "" {
				found = append(found, fmt.Sprint(e.Operation, " ", e.Key, " ", e.Attempt, " ", e.Fault, " ", e.Status))
			}
		}
		slices.Sort(found)
		faults = append(faults, found)
	}
	return faults
}

// retrying is a client that repeats its requests until they succeed.
type retrying struct {
	caller
	domain string
}

// live creates an object, and finds, reads, changes and deletes it by its id.
func (c retrying) live(n int) {
	name := fmt.Sprintf("m%02d", n)
	collection, search := "/mailboxes", "?search="+name
	body, change := fmt.Sprintf(`{"domain":%q,"local_part":%q,"first_name":"First","last_name":"L"}`, c.domain, name), `{"last_name":"M"}`
	switch n % 4 {
	case 1:
		collection, search = "/dns-records", "?name="+name
		body, change = fmt.Sprintf(`{"domain":%q,"name":%q,"type":"TXT","value":"v"}`, c.domain, name), `{"ttl":600}`
	case 2:
		collection = "/credentials"
		body, change = fmt.Sprintf(`{"domain":%q,"name":%q,"value":"hunter2-%d"}`, c.domain, name, rand.Int()), `{"name":"`+name+`!"}`
	case 3:
		collection = "/forwarding"
		body, change = fmt.Sprintf(`{"domain":%q,"target_email":"%s@example.org"}`, c.domain, name), `{"target_email":"`+name+`@example.edu"}`
	}
	c.until(409, "POST", collection, body)
	var found struct {
		Items []struct {
			ID json.RawMessage `json:"id"`
		} `json:"items"`
	}
	list := c.until(200, "GET", collection+search, "")
	if err := json.Unmarshal([]byte(list), &found); err != nil || len(found.Items) != 1 {
		c.T.Errorf("%s %s: %s, %v", collection, name, list, err)
		return
	}
	object := collection + "/" + strings.Trim(string(found.Items[0].ID), `"`)
	c.until(200, "GET", object, "")
	c.until(200, "PATCH", object, change)
	c.until(404, "DELETE", object, "")
}

// until repeats a request until it succeeds, or fails in a way that shows that it has succeeded before.
func (c retrying) until(orStatus int, method, path, body string) string {
	for range 50 {
		if a := c.do(method, path, body); a.err == nil && (a.status < 300 || a.status == orStatus) {
			return a.body
		} else if a.err == nil && a.status != http.StatusServiceUnavailable {
			c.T.Errorf("%s %s: %+v", method, path, a)
			return a.body
		}
	}
	c.T.Errorf("%s %s never succeeded", method, path)
	return ""
}
