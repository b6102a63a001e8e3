package account

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// NameOf returns the name by which people know an account's object with an id, such as an address or
// a record's name, type and value. It is the same for the same object in another run. It is empty
// without such an object.
func (rules *Rules) NameOf(ctx context.Context, accountID, id string) string {
	name, _ := store.Read(ctx, rules.Store, func(r store.Reader) (string, error) { return nameOf(r, accountID, id), nil })
	return name
}

func nameOf(r store.Reader, accountID, id string) string {
	if number, err := strconv.ParseInt(id, 10, 64); err == nil {
		record, err := store.Get[store.DNSRecord](r, accountID, number)
		switch {
		case err != nil:
			return ""
		case record.SystemManaged: // its value may be random
			return record.Identity().Name
		}
		return record.Identity().Name + " " + record.Value
	}
	if !api.IsID(id) {
		return ""
	}
	if id == accountID {
		return "account"
	}
	if f, err := store.Get[store.Forwarding](r, accountID, id); err == nil {
		return f.TargetEmail + inScope(r, accountID, f.Scope)
	}
	if p, err := store.Get[store.MasterPassword](r, accountID, id); err == nil {
		return p.Name + inScope(r, accountID, p.Scope)
	}
	if a, err := store.Get[store.Authorization](r, accountID, id); err == nil {
		name := a.Identity().Name
		for _, other := range []string{a.ResourceID, a.SubjectID} {
			if api.IsID(other) { // a user or a group may have any id
				name = strings.Replace(name, other, cmp.Or(nameOf(r, accountID, other), other), 1)
			}
		}
		return name
	}
	return commonName[store.Workspace](r, accountID, id) + commonName[store.Domain](r, accountID, id) + commonName[store.Mailbox](r, accountID, id) +
		commonName[store.ServiceAccount](r, accountID, id) + commonName[store.DedicatedIP](r, accountID, id) + commonName[store.DedicatedIPOption](r, accountID, id)
}

// commonName returns the name of an object of one kind in the audit log, or "".
func commonName[T store.Object](r store.Reader, accountID, id string) string {
	o, err := store.Get[T](r, accountID, id)
	if err != nil {
		return ""
	}
	return o.Identity().Name
}

func inScope(r store.Reader, accountID string, s store.Scope) string {
	return " in " + s.Type + " " + nameOf(r, accountID, s.ID)
}
