package audit

import (
	"strconv"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// object is how the audit log names an object of an account. It outlives the
// object, so the name is that of its time.
type object struct {
	accountID, typ, id, name string
}

func describeAccount(a store.Account) object { return object{a.ID, "account", a.ID, ""} }

func describeWorkspace(w store.Workspace) object {
	return object{w.AccountID, "workspace", w.ID, w.Name}
}

func describeServiceAccount(a store.ServiceAccount) object {
	return object{a.AccountID, "service_account", a.ID, a.Name}
}

// describeAuthorization says what is granted to whom.
func describeAuthorization(a store.Authorization) object {
	name := a.GrantKind
	if a.CapabilityKey != "" {
		name = a.CapabilityKey
	}
	if a.ResourceType != "" {
		name += " in " + a.ResourceType + " " + a.ResourceID
	}
	return object{a.AccountID, "authorization", a.ID, name + " for " + a.SubjectType + " " + a.SubjectID}
}

func describeMasterPassword(p store.MasterPassword) object {
	return object{p.AccountID, "master_password", p.ID, p.Name}
}

func describeForwarding(f store.Forwarding) object {
	return object{f.AccountID, "forwarding", f.ID, f.TargetEmail}
}

func describeMailbox(m store.Mailbox) object {
	return object{m.AccountID, "mailbox", m.ID, m.Address()}
}

func describeDomain(d store.Domain) object { return object{d.AccountID, "domain", d.ID, d.Name} }

// describeDNSRecord leaves the value out: a TXT record may hold a secret.
func (t *auditedTx) describeDNSRecord(r store.DNSRecord) object {
	name := t.zone(r.AccountID, r.DomainID)
	if r.Name != "@" {
		name = r.Name + "." + name
	}
	return object{r.AccountID, "dns_record", strconv.FormatInt(r.ID, 10), name + " " + r.Type}
}

// zone returns the name of a domain. One transaction often changes several of
// its records.
func (t *auditedTx) zone(accountID, domainID string) string {
	if name, known := t.zones[domainID]; known {
		return name
	}
	d, err := t.Domain(accountID, domainID)
	if err != nil {
		t.failed = err
	}
	if t.zones == nil {
		t.zones = map[string]string{}
	}
	t.zones[domainID] = d.Name
	return d.Name
}

func describeDedicatedIP(d store.DedicatedIP) object {
	return object{d.AccountID, "dedicated_ip", d.ID, d.Name}
}

func describeDedicatedIPOption(o store.DedicatedIPOption) object {
	return object{o.AccountID, "dedicated_ip_option", o.ID, o.Name}
}

func describeFeedback(f store.Feedback) object {
	return object{f.AccountID, "feedback", f.ID, f.Title}
}
