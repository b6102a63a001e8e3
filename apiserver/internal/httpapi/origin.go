package httpapi

import (
	"cmp"
	"context"
	"reflect"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/audit"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/auth"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

type subjectKey struct{}

// AsControlPlane returns a context in which the audit log attributes the changes of the
// service's methods to the control plane. Without it they are the operator's.
func AsControlPlane(ctx context.Context) context.Context {
	return context.WithValue(ctx, subjectKey{}, audit.ControlPlane)
}

// Origin returns the origin of a context's changes for the audit log.
func Origin(ctx context.Context) audit.Origin {
	p, who := progressOf(ctx), auth.CallerFrom(ctx)
	o := audit.Origin{RequestID: p.ID, RemoteAddress: p.remoteAddress, Fields: fieldsSet(p.input)}
	if len(who.Subjects) > 0 {
		o.Operation = p.Operation.ID
		o.Subject = store.AuditSubject{Type: who.Subjects[0].Type, ID: who.Subjects[0].ID, Name: cmp.Or(who.Email, who.Name)}
	} else {
		o.Subject, _ = ctx.Value(subjectKey{}).(store.AuditSubject)
	}
	return o
}

// fieldsSet returns the names of the fields that a request's body sets.
func fieldsSet(request any) (names []string) {
	if request == nil {
		return nil
	}
	body := reflect.Indirect(reflect.ValueOf(request)).FieldByName("Body")
	if !body.IsValid() {
		return nil
	}
	for _, field := range reflect.VisibleFields(body.Type()) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		unset := strings.Contains(options, "omit") && body.FieldByIndex(field.Index).IsZero()
		if name != "" && !unset {
			names = append(names, name)
		}
	}
	return names
}
