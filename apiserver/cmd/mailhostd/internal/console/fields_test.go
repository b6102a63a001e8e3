package console_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest/sample"
)

// shown lists the templates that show the objects of a kind, by the kind's file, and the fields that
// none of them shows, with the reason.
var shown = map[string]struct {
	templates []string
	leftOut   map[string]string
}{
	"domain": {[]string{"domain.html", "domains.html"}, map[string]string{
		"dedicated_ip_id": "the page names the dedicated IP", "redirect_mode": "the service alone sets it", "updated_at": "the audit log says more",
		"inbound_tenant_id": operators, "inbound_tenant_external_id": operators, "inbound_tenant_name": operators, "inbound_tenant_type": operators,
	}},
	"mailbox": {[]string{"mailbox.html", "mailboxes.html"}, map[string]string{
		"domain_id": "the page names the domain", "workspace_id": "the page names the workspace", "local_part": "the address begins with it",
	}},
	"dnsrecord": {[]string{"domain.html"}, nil},
	"forwarding": {[]string{"forwarding.html"}, map[string]string{
		"verification_required": "the state says it", "verification_expires_at": "the state says it", "verification_verified_at": "the state says it",
		"created_at": "the audit log says more", "updated_at": "the audit log says more",
	}},
	"dedicatedip": {[]string{"dedicated-ips.html"}, map[string]string{
		"id": "nothing is called by it", "type": "there is one", "asn": "the address says it", "updated_at": "the audit log says more",
	}},
	"serviceaccount": {[]string{"token.html", "tokens.html"}, map[string]string{
		"account_id": "it is the account that is shown", "updated_at": "the audit log says more", "created_by_user_id": "the audit log says more", "revoked_by_user_id": "the audit log says more",
	}},
	"authorization": {[]string{"grants.html", "parts.html"}, map[string]string{
		"grant_kind": "the right names it", "capability_key": "the right names it", "resource_type": "the scope names it", "resource_id": "the scope names it",
	}},
}

const operators = "those who run the service set it"

// withoutPage lists the kinds that no page shows, with the reason.
var withoutPage = map[string]string{
	"account":        "a workspace has nothing but a name, which the pages show with its objects",
	"masterpassword": "a master password has nothing but a name",
}

// TestConsoleShowsEveryField checks that a page shows each field of an object.
func TestConsoleShowsEveryField(t *testing.T) {
	t.Parallel()
	for _, k := range sample.Kinds() {
		if k.Parameter == "" {
			continue
		}
		page, ok := shown[k.File]
		if _, without := withoutPage[k.File]; ok == without {
			t.Errorf("%s must have either their templates in shown or, with the reason, a line in withoutPage", k.Tag)
		}
		if !ok {
			continue
		}
		source := ""
		for _, name := range page.templates {
			text, err := os.ReadFile(filepath.Join("template", name))
			assert.NilError(t, err)
			source += string(text)
		}
		for name, inGo := range k.Fields() {
			isShown := regexp.MustCompile(`\.` + inGo + `\b`).MatchString(source)
			switch _, listed := page.leftOut[name]; {
			case !isShown && !listed:
				t.Errorf("the console does not show %s of a %s: show .%s in apiserver/cmd/mailhostd/internal/console/template/%s, or give the reason in shown (fields_test.go)", name, k.Noun, inGo, page.templates[0])
			case isShown && listed:
				t.Errorf("%s of a %s is shown: remove it from shown", name, k.Noun)
			}
		}
	}
}
