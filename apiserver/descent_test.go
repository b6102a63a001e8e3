package apiserver_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/identity"
)

// world is a server on which a random sequence of subjects creates service accounts and grants.
type world struct {
	*apitest.Server
	ids map[string]string // of service accounts, by name
	// clients are the callers by name: users, service accounts and the owner.
	clients map[string]*apitest.Client
}

// newWorld returns a server with users by name, and their groups.
func newWorld(t *testing.T, users map[string][]string) world {
	tokens := map[string]any{}
	for name, groups := range users {
		tokens["a.b."+name] = identity.User{ID: name, Groups: groups}
	}
	s, _ := newIssued(t, tokens)
	w := world{s, map[string]string{}, map[string]*apitest.Client{"owner": s.Client}}
	for name := range users {
		w.clients[name] = s.As("a.b." + name)
	}
	return w
}

// create creates a service account, and reports whether it may.
func (w world) create(by, name string) bool {
	a := w.clients[by].Post("/auth/service-accounts", obj{"name": name})
	if a.Status == http.StatusCreated {
		w.ids[name], w.clients[name] = a.Str("id"), w.As(a.Str("token"))
	}
	return a.Status == http.StatusCreated
}

// subject returns the type and the id of the subject of a name.
func (w world) subject(name string) (typ, id string) {
	switch id := w.ids[name]; {
	case id != "":
		return "service_account", id
	case w.clients[name] == nil:
		return "group", name
	}
	return "user", name
}

// grant makes a grant, and returns its id: "" if it may not.
func (w world) grant(by, to, right string) string {
	body := obj{"grant_kind": right}
	body["subject_type"], body["subject_id"] = w.subject(to)
	if right != "account_owner" {
		body["grant_kind"], body["capability_key"] = "capability", right
	}
	if a := w.clients[by].Post("/auth/authorizations", body); a.Status == http.StatusCreated {
		return a.Str("id")
	}
	return ""
}

// grants returns the ids of a subject's grants by right.
func (w world) grants(name string) map[string]string {
	ids := map[string]string{}
	typ, id := w.subject(name)
	for _, g := range w.Get("/auth/authorizations?subject_type=" + typ + "&subject_id=" + id).JSON.([]any) {
		right := g.(obj)["grant_kind"].(string)
		if key, ok := g.(obj)["capability_key"].(string); ok {
			right = key
		}
		ids[right] = g.(obj)["id"].(string)
	}
	return ids
}

// rights returns a subject's rights, sorted.
func (w world) rights(name string) []string { return slices.Sorted(maps.Keys(w.grants(name))) }

// revoke revokes a right of a subject, if it has it, and returns the id of the grant.
func (w world) revoke(from, right string) string {
	id := w.grants(from)[right]
	if id != "" {
		w.Delete("/auth/authorizations/" + id).Want(204)
	}
	return id
}

// descending returns the ids that descend from a subject and work, sorted.
func (w world) descending(subjectType, id string) (ids []string) {
	for _, c := range w.Get("/auth/creations?subject_type=" + subjectType + "&subject_id=" + id).Want(200).JSON.([]any) {
		ids = append(ids, c.(obj)["object_id"].(string))
	}
	slices.Sort(ids)
	return ids
}

// TestDescent compares what descends from a subject with a second server, on which the subject never had
// a right, and everybody is a member of all groups: exactly the service accounts and grants descend that
// can't be created there. Revoking them leaves nothing working, and takes nothing from others.
func TestDescent(t *testing.T) {
	t.Parallel()
	const root = "workload:root"
	users, groups := []string{"u1", "u2", "u3"}, []string{"g1", "g2"}
	rights := []string{"account_owner", "mailbox.view", "authorization.manage", "service_account.create"}
	descended, independent, revoked := 0, 0, 0
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 0))
		pick := func(from []string) string { return from[random.IntN(len(from))] }
		real := newWorld(t, map[string][]string{"u1": nil, "u2": {"g1"}, "u3": groups, root: nil})
		without := newWorld(t, map[string][]string{"u1": groups, "u2": groups, "u3": groups, root: nil})
		steps := []string{"owner gives " + root + " account_owner"}
		real.grant("owner", root, "account_owner")
		for _, subject := range slices.Concat(users, groups) {
			if random.IntN(3) == 0 {
				right := pick(rights)
				steps = append(steps, "owner gives "+subject+" "+right)
				assert.Check(t, real.grant("owner", subject, right) != "" && without.grant("owner", subject, right) != "")
			}
		}
		callers := slices.Concat([]string{"owner", root, root}, users)
		creators := map[string]string{}
		var want []string
		made := map[string]bool{} // service accounts that descend
		given := map[string]string{}
		for n := range 40 {
			// Only the order matters, and grants after the creation of a service account are not inherited.
			real.Clock.Advance(2 * time.Second)
			without.Clock.Advance(2 * time.Second)
			by := pick(callers)
			if random.IntN(3) == 0 {
				name := fmt.Sprintf("sa%d", n)
				if !real.create(by, name) {
					continue
				}
				steps = append(steps, by+" creates "+name+": "+real.ids[name])
				callers, creators[name] = append(callers, name), by
				has := without.clients[by] != nil && without.create(by, name)
				if !has {
					made[name] = true
					continue
				}
				// It has the rights that it has without the subject, or it descends, with all that it creates.
				inherited, independently := real.rights(name), without.rights(name)
				made[name] = made[by] || !slices.Contains(independently, "account_owner") && slices.ContainsFunc(inherited, func(right string) bool { return !slices.Contains(independently, right) })
				for _, right := range independently { // also those of groups that the creator is no member of
					without.revoke(name, right)
				}
				for _, right := range inherited {
					without.grant("owner", name, right)
				}
				continue
			}
			to, right := pick(slices.Concat(callers[3:], groups)), pick(rights)
			if random.IntN(4) == 0 {
				if id := real.revoke(to, right); id != "" {
					steps = append(steps, "owner revokes "+right+" of "+to+": "+id)
					without.revoke(to, right)
					delete(given, id)
					revoked++
				}
				continue
			}
			id := real.grant(by, to, right)
			if id == "" {
				continue
			}
			steps = append(steps, by+" gives "+to+" "+right+": "+id)
			if without.clients[by] == nil || made[to] || made[by] || without.grant(by, to, right) == "" {
				given[id] = to
			}
		}
		for name, descends := range made {
			if descends {
				want = append(want, real.ids[name])
			}
		}
		for id, to := range given {
			if !made[to] {
				want = append(want, id)
			}
		}
		slices.Sort(want)
		assert.Assert(t, is.DeepEqual(real.descending("user", root), want), "%d: %s", seed, strings.Join(steps, "\n"))
		for _, right := range real.rights(root) {
			real.revoke(root, right)
		}
		for _, id := range want {
			if real.Client.Do("DELETE", "/auth/service-accounts/"+id, nil).Status == http.StatusNotFound {
				real.Delete("/auth/authorizations/" + id).Want(204)
			}
		}
		assert.Check(t, len(real.descending("user", root)) == 0, "after the revocation: %q", steps)
		for name := range made {
			status := http.StatusOK
			if made[name] {
				descended, status = descended+1, http.StatusUnauthorized
			} else {
				independent++
			}
			assert.Check(t, real.clients[name].Get("/auth/caller").Status == status, "%d: %s: %q", seed, name, steps)
		}
	}
	assert.Check(t, descended > 20 && independent > 20 && revoked > 20, "%d service accounts descend, %d do not, %d grants are revoked", descended, independent, revoked)
}

// TestDescentWithWrongClocks creates service accounts and grants by servers whose clocks differ, so that
// they seem older than what they descend from.
func TestDescentWithWrongClocks(t *testing.T) {
	t.Parallel()
	for _, back := range []time.Duration{time.Minute, time.Hour, 365 * 24 * time.Hour} {
		const root = "workload:root"
		w := newWorld(t, map[string][]string{root: nil, "jane": {"admins"}, "ed": {"devs"}, "new": nil})
		w.Clock.Advance(10 * back)
		w.grant("owner", root, "account_owner")
		w.grant("owner", "admins", "account_owner")
		w.grant("owner", "ed", "mailbox.view")
		w.Clock.Advance(2 * time.Second)
		var want []string
		last := root
		for n := range 4 {
			name := fmt.Sprintf("sa%d", n)
			assert.Assert(t, w.create(last, name))
			want, last = append(want, w.ids[name]), name
			w.Clock.Advance(-back)
		}
		w.Clock.Advance(4 * back)
		want = append(want, w.grant("sa3", "new", "mailbox.view"))
		want = append(want, w.grant("sa3", "new", "service_account.create"))
		want = append(want, w.grant(root, "ed", "service_account.create"))
		w.grant("owner", "jane", "mailbox.view")
		w.Clock.Advance(-back)
		assert.Assert(t, w.create("new", "new1"))
		want = append(want, w.ids["new1"])
		w.Clock.Advance(2 * back)
		assert.Assert(t, w.create("jane", "jane1"))
		slices.Sort(want)
		assert.Check(t, is.DeepEqual(w.descending("user", root), want), "%s", back)
	}
}
