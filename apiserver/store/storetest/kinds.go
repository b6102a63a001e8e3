package storetest

import (
	"fmt"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

var accountKind = kind[store.Account, string]{
	new: func(h *harness, _ tenant) store.Account { return store.Account{ID: h.id(), CreatedAt: epoch} },
	get: func(r store.Reader, _, id string) (store.Account, error) { return r.Account(id) },
	list: func(string) lister[store.Account] {
		return func(r store.Reader, s store.Slice) ([]store.Account, int, error) {
			all, err := r.Accounts()
			return all[min(s.Offset, len(all)):min(s.Offset+s.Limit, len(all))], len(all), err
		}
	},
	update: func(tx store.Tx, _, id string, change func(*store.Account) error) (store.Account, error) {
		return tx.UpdateAccount(id, change)
	},
}

var workspaceKind = kind[store.Workspace, string]{
	new: func(h *harness, t tenant) store.Workspace {
		return store.Workspace{ID: h.id(), AccountID: t.account, Name: h.id(), CreatedAt: epoch}
	},
	get:    store.Reader.Workspace,
	list:   func(account string) lister[store.Workspace] { return workspaces(account, store.Within{}) },
	unique: []string{"Name"},
	folded: "Name",
}

var serviceAccountKind = kind[store.ServiceAccount, string]{
	new:    func(h *harness, t tenant) store.ServiceAccount { return h.newServiceAccount(t.account, h.id()) },
	get:    store.Reader.ServiceAccount,
	list:   unfiltered(store.Reader.ServiceAccounts),
	update: store.Tx.UpdateServiceAccount,
	unique: []string{"PublicID"}, everywhere: true,
	kept: []string{"SecretHash"}, // must not be empty
}

var authorizationKind = kind[store.Authorization, string]{
	new: func(h *harness, t tenant) store.Authorization {
		return store.Authorization{ID: h.id(), AccountID: t.account, CreatedAt: epoch}
	},
	get:    store.Reader.Authorization,
	update: store.Tx.UpdateAuthorization,
}

var masterPasswordKind = kind[store.MasterPassword, string]{
	new: func(h *harness, t tenant) store.MasterPassword {
		return h.newMasterPassword(t.account, h.id(), accountScope(t))
	},
	get: store.Reader.MasterPassword,
	list: func(account string) lister[store.MasterPassword] {
		return masterPasswords(account, store.ScopedFilter{})
	},
	update:    store.Tx.UpdateMasterPassword,
	elsewhere: func(t tenant, v *store.MasterPassword) { v.Scope = domainScope(t.domain) },
	delete:    store.Tx.DeleteMasterPassword,
	unique:    []string{"Scope", "Name"},
	folded:    "Name",
	fixed:     []string{"Scope"},
}

var forwardingKind = kind[store.Forwarding, string]{
	new: func(h *harness, t tenant) store.Forwarding {
		return h.newForwarding(t.account, h.id()+"@c.example", accountScope(t))
	},
	get: store.Reader.Forwarding,
	list: func(account string) lister[store.Forwarding] {
		return forwardingRules(account, store.ForwardingFilter{})
	},
	update:    store.Tx.UpdateForwarding,
	elsewhere: func(t tenant, v *store.Forwarding) { v.Scope = domainScope(t.domain) },
	delete:    store.Tx.DeleteForwarding,
	unique:    []string{"Scope", "TargetEmail"},
	fixed:     []string{"Scope"},
}

var mailboxKind = kind[store.Mailbox, string]{
	new:    func(h *harness, t tenant) store.Mailbox { return h.newMailbox(t, h.id()) },
	get:    store.Reader.Mailbox,
	list:   func(account string) lister[store.Mailbox] { return mailboxes(account, store.MailboxFilter{}) },
	update: store.Tx.UpdateMailbox,
	delete: func(tx store.Tx, account, id string) error { return tx.DeleteMailbox(account, id, epoch) },
	unique: []string{"DomainID", "LocalPart"},
	fixed:  []string{"DomainID", "LocalPart", "Aliases"},
	kept:   []string{"Aliases", "DomainName", "WorkspaceID", "WorkspaceName"},
}

var domainKind = kind[store.Domain, string]{
	new: func(h *harness, t tenant) store.Domain {
		return h.newDomain(t.account, t.workspace, fmt.Sprintf("d%d.example", h.ids))
	},
	get:    store.Reader.Domain,
	list:   func(account string) lister[store.Domain] { return domains(account, store.DomainFilter{}) },
	update: store.Tx.UpdateDomain,
	delete: func(tx store.Tx, account, id string) error { return tx.DeleteDomain(account, id, epoch) },
	unique: []string{"Name"}, everywhere: true,
	fixed: []string{"Name"},
	kept:  []string{"WorkspaceID", "DedicatedIPID"},
}

var dnsRecordKind = kind[store.DNSRecord, int64]{
	new:    func(h *harness, t tenant) store.DNSRecord { return h.newDNSRecord(t, "www", "TXT", h.id()) },
	get:    store.Reader.DNSRecord,
	list:   func(account string) lister[store.DNSRecord] { return dnsRecords(account, store.DNSRecordFilter{}) },
	update: store.Tx.UpdateDNSRecord,
	delete: store.Tx.DeleteDNSRecord,
	unique: []string{"DomainID", "Name", "Type", "Value", "Priority"},
	fixed:  []string{"DomainID", "Name", "Type", "SystemManaged"},
}

var dedicatedIPKind = kind[store.DedicatedIP, string]{
	new: func(h *harness, t tenant) store.DedicatedIP {
		return h.newDedicatedIP(t.account, h.dedicatedIPOption(t.account), h.id())
	},
	get: store.Reader.DedicatedIP,
	list: func(account string) lister[store.DedicatedIP] {
		return dedicatedIPs(account, store.DedicatedIPFilter{})
	},
	delete: store.Tx.DeleteDedicatedIP,
	unique: []string{"Addresses"},
}

var dedicatedIPOptionKind = kind[store.DedicatedIPOption, string]{
	new: func(h *harness, t tenant) store.DedicatedIPOption {
		return store.DedicatedIPOption{ID: h.id(), AccountID: t.account, CreatedAt: epoch}
	},
	get:  store.Reader.DedicatedIPOption,
	list: unfiltered(store.Reader.DedicatedIPOptions),
	kept: []string{"Claimed"},
}
