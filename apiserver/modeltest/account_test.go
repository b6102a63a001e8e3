package modeltest

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
)

// account is the account in the model.
type account struct {
	ownerID string
	created time.Time
	// ended is set after an immediate cancellation. cancelsAt is the end of the period
	// at which a pending cancellation takes effect.
	ended     bool
	cancelsAt time.Time
	plan      string
	// next is the plan from changesAt on.
	next      string
	changesAt time.Time
	billed    time.Time // when billing changed it last
}

// beginAccount adds the objects of every new account to the model, and compares it.
func (m *machine) beginAccount() {
	m.account = account{plan: "smtp_per_mailbox"}
	m.workspaces = []*workspace{{id: derived(accountID, "workspace:default"), name: "Default"}}
	m.options = []*option{
		{id: derived(accountID, "dedicated-ip-option:eu"), country: "DE", network: netip.MustParsePrefix("198.51.100.0/24")},
		{id: derived(accountID, "dedicated-ip-option:us"), country: "US", network: netip.MustParsePrefix("203.0.113.0/24")},
	}
	a := m.send("", m.theOwner(), operation{method: "GET", path: "/auth/authorizations"})
	grants, _ := a.json.([]any)
	if len(grants) != 1 {
		m.fail("a new account has not one grant, that of its owner")
	}
	m.account.ownerID, _ = grants[0].(obj)["subject_id"].(string)
	m.grants = []*grant{{kind: "account_owner", subjectType: "user", subjectID: m.account.ownerID, creator: learn(func(any) error { return nil })}}
	m.do(m.theOwner(), m.listGrants(url.Values{}))
	m.do(m.theOwner(), m.listWorkspaces().page(1, 25))
	m.askUnder("", m.theOwner(), m.newWorkspace(obj{"name": "Sales"}, nil))
	m.do(m.theOwner(), m.getAccount())
}

func (m *machine) readAccount() { m.do(m.caller(), m.getAccount()) }

func (m *machine) getAccount() operation {
	return operation{
		method: "GET", path: "", capability: "account.view", reads: true,
		then: func(*caller) want {
			return ok(obj{
				"id": accountID, "status": m.accountStatus(), "plan_id": m.plan(), "default_workspace_id": derived(accountID, "workspace:default"),
				"cancels_at": maybe(m.account.cancelsAt), "created_at": m.creation(&m.account.created), "updated_at": m.update(&m.account.created, m.account.billed),
			})
		},
	}
}

func (m *machine) submitFeedback() { m.do(m.caller(), m.feedback()) }

// feedback submits new feedback: its title contains a counter.
func (m *machine) feedback() operation {
	m.titles++
	body := obj{"title": fmt.Sprintf("Title %d", m.titles), "description": draw(m, "description", "Words.", "<b>ü</b>\nand\ta tab")}
	expected := obj{"category": "other", "paid_product_feature": false, "attributes": obj{}}
	if draw(m, "category", false, true) {
		body["category"] = draw(m, "category", "bug_report", "product_feedback", "feature_request", "other")
		expected["category"] = body["category"]
	}
	if draw(m, "paid", false, true) {
		body["paid_product_feature"], expected["paid_product_feature"] = true, true
	}
	if draw(m, "attributes", false, true) {
		body["attributes"] = draw[any](m, "attributes", obj{"a": "b"}, obj{}, obj{"n": json.Number("12345678901234567890.5"), "deep": []any{obj{"x": nil}, true}})
		expected["attributes"] = body["attributes"]
	}
	faults := m.spoil("body", body, "title", "description")
	return operation{
		method: "POST", path: "/feedback", body: body, keyed: true, faults: faults,
		then: func(who *caller) want {
			m.fillBucket()
			var at time.Time
			return created(obj{
				"id": m.learnID(new(string)), "account_id": accountID, "title": body["title"], "description": body["description"],
				"category": expected["category"], "status": "new", "attributes": expected["attributes"], "paid_product_feature": expected["paid_product_feature"],
				"submitter_email": nil, "submitter_name": m.submitter(who), "created_by_user_id": maybe(m.userOf(who)), "admin_notes": nil,
				"created_at": m.creation(&at), "updated_at": m.creation(&at),
			})
		},
	}
}

func (m *machine) submitter(who *caller) any {
	if who.account != nil {
		return who.account.name
	}
	return nil
}

// workspace is a workspace in the model.
type workspace struct {
	id, name string
	created  time.Time
}

func (m *machine) workspaceObject(w *workspace) obj {
	return obj{"id": m.learnID(&w.id), "name": w.name, "created_at": m.creation(&w.created), "updated_at": m.creation(&w.created)}
}

// derived returns the UUIDv5 of a name in an account.
func derived(account, name string) string {
	return uuid.NewSHA1(uuid.MustParse(account), []byte(name)).String()
}

// canonical returns the canonical form of an id.
func canonical(id string) string { return strings.ToLower(id) }

func (m *machine) workspaceIDs() []string {
	return idsOf(m.workspaces, func(w *workspace) string { return w.id })
}

// seenWorkspace returns a workspace that the caller may see.
func (m *machine) seenWorkspace(r reach, id string) *workspace {
	return find(m.workspaces, func(w *workspace) bool { return w.id == canonical(id) && r.workspace(w) })
}

// createWorkspace creates a workspace. Names are unique in the account.
func (m *machine) createWorkspace() {
	body := obj{"name": draw(m, "name", "Sales", "Support", "sales", "Vertrieb & Büro", "Default", "nul\x00")}
	faults := append(m.spoil("body", body, "name"), misnamed("body", body, "name")...)
	m.do(m.caller(), m.newWorkspace(body, faults))
}

func (m *machine) newWorkspace(body obj, faults []problem) operation {
	return operation{
		method: "POST", path: "/workspaces", body: body, capability: "workspace.manage", keyed: true, faults: faults,
		then: func(who *caller) want {
			w := &workspace{name: body["name"].(string)}
			if other := find(m.workspaces, func(other *workspace) bool { return strings.EqualFold(other.name, w.name) }); other != nil {
				return conflictWith(other.id, m.reach(who, "workspace.view").workspace(other))
			}
			m.workspaces = append(m.workspaces, w)
			return created(m.workspaceObject(w))
		},
	}
}

func (m *machine) readWorkspaces() {
	if m.rarely(2, "one") {
		m.readOne("workspace_id", m.workspaceIDs(), m.getWorkspace)
		return
	}
	m.listWorkspaces().do(m, m.caller())
}

func (m *machine) getWorkspace(id string) operation {
	return get(m, "/workspaces/", "workspace.view", "workspace_id", id, m.seenWorkspace, m.workspaceObject)
}

func (m *machine) listWorkspaces() *listing {
	return list(m, "/workspaces", "workspace.view", url.Values{}, &m.workspaces, m.workspaceObject, func(_ *listing, r reach, w *workspace) bool { return r.workspace(w) })
}
