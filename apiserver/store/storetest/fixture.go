package storetest

import (
	"fmt"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// id returns a new id. Ids descend, so that a test can tell an order by id from the order
// by creation.
func (h *harness) id() string {
	h.ids++
	return fmt.Sprintf("%08d-0000-4000-8000-000000000000", 99_999_999-h.ids)
}

// create creates objects, given as pointers, in one update.
func (h *harness) create(objects ...store.Object) {
	h.Helper()
	h.update(func(tx store.Tx) error {
		for _, o := range objects {
			if err := tx.Create(o); err != nil {
				return err
			}
		}
		return nil
	})
}

// tenant is an account with a workspace and a domain.
type tenant struct {
	account, workspace, domain string
}

// tenant creates an account with a workspace and a domain.
func (h *harness) tenant(domainName string) tenant {
	h.Helper()
	t := h.accountWithWorkspace()
	h.create(new(h.newDomain(t, domainName)))
	return t
}

// accountWithWorkspace creates an account with a workspace. domain is the id for its first domain.
func (h *harness) accountWithWorkspace() tenant {
	h.Helper()
	t := tenant{account: h.id(), workspace: h.id(), domain: h.id()}
	h.create(
		&store.Account{ID: t.account, Status: "active", PlanID: "smtp_per_mailbox", CreatedAt: epoch},
		&store.Workspace{ID: t.workspace, AccountID: t.account, Name: "Default", CreatedAt: epoch})
	return t
}

func (h *harness) newDomain(t tenant, name string) store.Domain {
	return store.Domain{
		ID: t.domain, AccountID: t.account, WorkspaceID: t.workspace, Name: name,
		State: store.Provisioning{Status: "active"}, CreatedAt: epoch,
	}
}

func (h *harness) mailbox(t tenant, localPart string) {
	h.Helper()
	h.create(new(h.newMailbox(t, localPart)))
}

func (h *harness) newMailbox(t tenant, localPart string) store.Mailbox {
	return store.Mailbox{
		ID: h.id(), AccountID: t.account, DomainID: t.domain, LocalPart: localPart,
		FirstName: "Ada", LastName: "Lovelace",
		State: store.Provisioning{Status: "active"}, CreatedAt: epoch,
	}
}

func (h *harness) newServiceAccount(account, publicID string) store.ServiceAccount {
	return store.ServiceAccount{
		ID: h.id(), AccountID: account, Name: "ci", PublicID: publicID,
		SecretHash: []byte{1, 0, 255}, Last4: "wxyz", CreatedAt: epoch,
	}
}

func (h *harness) newForwarding(account, target string, scope store.Scope) store.Forwarding {
	return store.Forwarding{
		ID: h.id(), AccountID: account, Scope: scope, TargetEmail: target, Enabled: true, CreatedAt: epoch,
	}
}

func (h *harness) newDNSRecord(t tenant, name, kind, value string) store.DNSRecord {
	h.ids++
	return store.DNSRecord{
		ID: int64(1)<<53 - int64(h.ids), AccountID: t.account, DomainID: t.domain, Name: name, Type: kind, Value: value, TTL: 3600, CreatedAt: epoch,
	}
}
