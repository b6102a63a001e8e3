package account

import (
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// TestOneRuleEach checks that a service does not start if an operation is bound to no rule or to
// several rules.
func TestOneRuleEach(t *testing.T) {
	all := Operations()
	for i, spec := range api.Specs() {
		assert.Equal(t, all[i].ID, spec.ID, "the order is not the contract's")
	}
	for want, bound := range map[string][]Operation{
		"delete-mailbox is bound to 0 rules": mailboxOperations[:1],
		"delete-mailbox is bound to 2 rules": slices.Concat(mailboxOperations, mailboxOperations),
	} {
		func() {
			defer func() {
				said, _ := recover().(string)
				assert.Check(t, strings.Contains(said, want) && strings.Contains(said, "(Mailboxes)"), "panics with %q, want %q", said, want)
			}()
			oneRuleEach([]api.Spec{api.DeleteMailbox.Spec}, bound)
		}()
	}
}
