package apiserver_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

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

func newWorld(t *testing.T, users []string) world {
	tokens := map[string]any{}
	for _, name := range users {
		tokens["a.b."+name] = identity.User{ID: name}
	}
	s, _ := newIssued(t, tokens)
	w := world{s, map[string]string{}, map[string]*apitest.Client{"owner": s.Client}}
	for _, name := range users {
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

// grant makes a grant, and returns its id: "" if it may not.
func (w world) grant(by, to, right string) string {
	body := obj{"grant_kind": right, "subject_type": "user", "subject_id": to}
	if id := w.ids[to]; id != "" {
		body["subject_type"], body["subject_id"] = "service_account", id
	}
	if right != "account_owner" {
		body["grant_kind"], body["capability_key"] = "capability", right
	}
	if a := w.clients[by].Post("/auth/authorizations", body); a.Status == http.StatusCreated {
		return a.Str("id")
	}
	return ""
}

// rights returns the rights of a service account.
func (w world) rights(name string) (rights []string) {
	for _, g := range w.Get("/auth/authorizations?subject_id=" + w.ids[name]).JSON.([]any) {
		right := g.(obj)["grant_kind"].(string)
		if key, ok := g.(obj)["capability_key"].(string); ok {
			right = key
		}
		rights = append(rights, right)
	}
	return rights
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
// a right: exactly the service accounts and grants descend that can't be created there. Revoking
// them leaves nothing working, and takes nothing from others.
func TestDescent(t *testing.T) {
	t.Parallel()
	const root = "workload:root"
	users := []string{"u1", "u2", "u3", root}
	rights := []string{"account_owner", "mailbox.view", "authorization.manage", "service_account.create"}
	descended, independent := 0, 0
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 0))
		pick := func(from []string) string { return from[random.IntN(len(from))] }
		real, without := newWorld(t, users), newWorld(t, users)
		steps := []string{"owner gives " + root + " account_owner"}
		real.grant("owner", root, "account_owner")
		for _, user := range users[:3] {
			if random.IntN(2) == 0 {
				right := pick(rights)
				steps = append(steps, "owner gives "+user+" "+right)
				assert.Check(t, real.grant("owner", user, right) != "" && without.grant("owner", user, right) != "")
			}
		}
		callers := append([]string{"owner", root, root}, users[:3]...)
		creators := map[string]string{}
		var want []string
		made := map[string]bool{} // service accounts that descend
		type given struct{ id, to string }
		var grants []given
		for n := range 30 {
			by := pick(callers)
			if random.IntN(3) == 0 {
				name := fmt.Sprintf("sa%d", n)
				if !real.create(by, name) {
					continue
				}
				steps = append(steps, by+" creates "+name+": "+real.ids[name])
				callers, creators[name] = append(callers, name), by
				has := without.clients[by] != nil && without.create(by, name)
				// It has the rights that it has without the subject, or it descends, with all that it creates.
				independently := without.rights(name)
				made[name] = made[by] || !has || !slices.Contains(independently, "account_owner") && slices.ContainsFunc(real.rights(name), func(right string) bool { return !slices.Contains(independently, right) })
				continue
			}
			to, right := pick(callers[3:]), pick(rights)
			if creators[to] == by {
				continue
			}
			id := real.grant(by, to, right)
			if id == "" {
				continue
			}
			steps = append(steps, by+" gives "+to+" "+right+": "+id)
			if without.clients[by] == nil || without.clients[to] == nil || made[by] || without.grant(by, to, right) == "" {
				grants = append(grants, given{id, to})
			}
		}
		for name, descends := range made {
			if descends {
				want = append(want, real.ids[name])
			}
		}
		for _, g := range grants {
			if !made[g.to] {
				want = append(want, g.id)
			}
		}
		slices.Sort(want)
		assert.Assert(t, is.DeepEqual(real.descending("user", root), want), "%d: %s", seed, strings.Join(steps, "\n"))
		for _, g := range real.Get("/auth/authorizations?subject_id=" + root).JSON.([]any) {
			real.Delete("/auth/authorizations/" + g.(obj)["id"].(string)).Want(204)
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
	assert.Check(t, descended > 20 && independent > 20, "%d service accounts descend, %d do not", descended, independent)
}
