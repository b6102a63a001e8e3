package mail_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apiservertest"
)

func TestModule(t *testing.T) {
	s := apiservertest.Start(t, apiservertest.Fixture("account.json"))
	resource.ParallelTest(t, resource.TestCase{
		ExternalProviders: map[string]resource.ExternalProvider{"mailhost": {Source: "mailhost/mailhost"}},
		Steps: []resource.TestStep{{
			Config: s.ProviderConfig() + `
				resource "mailhost_mailbox" "jane" {
				  domain     = "example.com"
				  local_part = "jane"
				  first_name = "Jane"
				  last_name  = "Doe"
				}`,
			Check: resource.TestCheckResourceAttr("mailhost_mailbox.jane", "status", "active"),
		}},
	})
}
