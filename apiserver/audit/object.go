package audit

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// object is how the audit log names an object, as it was at the time of the change.
type object struct {
	accountID, typ, id, name string
}

func (t *auditedTx) describe(v any) (o object, err error) {
	switch v := v.(type) {
	case *store.Account:
		return object{v.ID, "account", v.ID, ""}, nil
	case *store.Workspace:
		return object{v.AccountID, "workspace", v.ID, v.Name}, nil
	case *store.ServiceAccount:
		return object{v.AccountID, "service_account", v.ID, v.Name}, nil
	case *store.Authorization:
		return object{v.AccountID, "authorization", v.ID, grantName(v)}, nil
	case *store.MasterPassword:
		return object{v.AccountID, "master_password", v.ID, v.Name}, nil
	case *store.Forwarding:
		return object{v.AccountID, "forwarding", v.ID, v.TargetEmail}, nil
	case *store.Mailbox:
		return object{v.AccountID, "mailbox", v.ID, v.Address()}, nil
	case *store.Domain:
		t.domainNames[v.ID] = v.Name // its DNS records may follow when it is deleted already
		return object{v.AccountID, "domain", v.ID, v.Name}, nil
	case *store.DNSRecord:
		name, err := t.recordName(v)
		return object{v.AccountID, "dns_record", strconv.FormatInt(v.ID, 10), name}, err
	case *store.DedicatedIP:
		return object{v.AccountID, "dedicated_ip", v.ID, v.Name}, nil
	case *store.DedicatedIPOption:
		return object{v.AccountID, "dedicated_ip_option", v.ID, v.Name}, nil
	case *store.Feedback:
		return object{v.AccountID, "feedback", v.ID, v.Title}, nil
	}
	return o, fmt.Errorf("unknown object %T", v)
}

// grantName names what is granted and its subject.
func grantName(a *store.Authorization) string {
	name := cmp.Or(a.CapabilityKey, a.GrantKind)
	if a.ResourceType != "" {
		name += " in " + a.ResourceType + " " + a.ResourceID
	}
	return name + " for " + a.SubjectType + " " + a.SubjectID
}

// recordName names a DNS record without its value: a TXT record may hold a secret.
func (t *auditedTx) recordName(r *store.DNSRecord) (string, error) {
	name, known := t.domainNames[r.DomainID]
	if !known {
		d, err := t.Domain(r.AccountID, r.DomainID)
		if err != nil {
			return "", err
		}
		name = d.Name
		t.domainNames[r.DomainID] = name
	}
	if r.Name != "@" {
		name = r.Name + "." + name
	}
	return name + " " + r.Type, nil
}

// revokedAt returns when the object that v points to was revoked, or the zero time.
func revokedAt(v any) time.Time {
	switch v := v.(type) {
	case *store.ServiceAccount:
		return v.RevokedAt
	case *store.Authorization:
		return v.RevokedAt
	}
	return time.Time{}
}
