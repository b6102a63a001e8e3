package modeltest

import (
	"net/netip"
	"net/url"
	"time"
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
	m.grants = []*grant{{kind: "account_owner", subjectType: "user", subjectID: m.account.ownerID}}
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
				"id": accountID, "status": m.accountStatus(), "plan_id": m.plan(), "default_workspace_id": m.workspaces[0].id,
				"cancels_at": maybe(m.account.cancelsAt), "created_at": m.creation(&m.account.created), "updated_at": m.update(&m.account.created, m.account.billed),
			})
		},
	}
}
