package mailboxset

import (
	"reflect"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// leftOut maps the fields of a mailbox that are no attribute of an entry to the reason.
var leftOut = map[string]string{
	"domain": "it is the set's", "local_part": "it is the key of the entry",
}

// TestEntriesHaveEveryField checks that an entry contains each field of a create.
func TestEntriesHaveEveryField(t *testing.T) {
	t.Parallel()
	has := map[string]bool{}
	for _, f := range new(entry).fields() {
		has[f.name] = true
	}
	for _, f := range api.FieldsOf(reflect.TypeFor[api.CreateMailboxBody]()) {
		if _, listed := leftOut[f.Name]; has[f.Name] == listed {
			t.Errorf("%s of a mailbox must be either an attribute of an entry of mailhost_mailbox_set, from entry in internal/service/mailboxset/model.go on, or in leftOut with the reason", f.Name)
		}
	}
}
