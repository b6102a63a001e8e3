package modeltest

import (
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
)

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
