package mail_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apiservertest"
)

func TestRecording(t *testing.T) {
	s := apiservertest.Start(t, apiservertest.Recording("host.yaml"))
	resource.ParallelTest(t, resource.TestCase{
		ExternalProviders: map[string]resource.ExternalProvider{"mailhost": {Source: "mailhost/mailhost"}},
		Steps: []resource.TestStep{{
			Config: s.ProviderConfig() + `data "mailhost_mailboxes" "all" {}`,
			Check:  resource.TestCheckResourceAttr("data.mailhost_mailboxes.all", "mailboxes.0.primary_email", "jane@example.com"),
		}},
	})
}
