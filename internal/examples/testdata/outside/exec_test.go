package mail_test

import (
	"testing"

	"github.com/hashicorp/terraform-exec/tfexec"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apiservertest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/control/fault"
)

func TestRetry(t *testing.T) {
	s := apiservertest.Start(t, apiservertest.Fixture("account.json"))
	s.Setenv(t)
	if _, err := s.Faults.Add(fault.Rule{Operation: "create-mailbox", Times: 1, Status: 503}); err != nil {
		t.Fatal(err)
	}
	tf, err := tfexec.NewTerraform("module", "terraform")
	if err != nil {
		t.Fatal(err)
	}
	if err := tf.Init(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := tf.Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	if changes, err := tf.Plan(t.Context()); err != nil || changes {
		t.Errorf("the plan after an apply is not empty (%v)", err)
	}
}
