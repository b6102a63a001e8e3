package forwarding_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// TestSwitchOff checks that a pending rule that is switched off stays off after the
// verification, and can be switched on again.
func TestSwitchOff(t *testing.T) {
	s := acctest.NewServer(t, acctest.Options{})
	const target, off = `target_email = "jane@example.org"`, `active = false`
	active := func(want bool) []statecheck.StateCheck {
		return []statecheck.StateCheck{has("active", knownvalue.Bool(want))}
	}
	updates := func(planned bool) resource.ConfigPlanChecks {
		return plans(plancheck.ResourceActionUpdate,
			plancheck.ExpectKnownValue(address, tfjsonpath.New("active"), knownvalue.Bool(planned)),
			plancheck.ExpectKnownValue(address, tfjsonpath.New("verification_state"), knownvalue.NotNull()))
	}
	acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
		{Config: rule(s, target, off), ConfigStateChecks: active(false)},
		{PreConfig: func() { confirm(t, s) }, Config: rule(s, target, off), ConfigPlanChecks: plans(plancheck.ResourceActionNoop), ConfigStateChecks: active(false)},
		{Config: rule(s, target), ConfigPlanChecks: updates(true), ConfigStateChecks: active(true)},
		{Config: rule(s, target, off), ConfigPlanChecks: updates(false), ConfigStateChecks: active(false)},
		{ // switched on outside Terraform
			PreConfig: func() { turn(t, s, true) }, Config: rule(s, target, off), ConfigPlanChecks: updates(false), ConfigStateChecks: active(false),
		},
		{Config: rule(s, target), ConfigPlanChecks: updates(true), ConfigStateChecks: active(true)},
		{ // switched off outside Terraform, and not configured
			PreConfig: func() { turn(t, s, false) }, Config: rule(s, target), ConfigPlanChecks: plans(plancheck.ResourceActionNoop), ConfigStateChecks: active(false),
		},
	}})
}

// TestSwitchOn checks a rule with active = true: pending it causes no plan, it is switched
// on or created again if necessary, and without the attribute the API decides.
func TestSwitchOn(t *testing.T) {
	s := acctest.NewServer(t, acctest.Options{})
	const target, on = `target_email = "jane@example.org"`, `active = true`
	output := func(config string) string {
		return config + "output \"active\" {\n  value = mailhost_forwarding.this.active\n}\n"
	}
	empty := resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}
	state := func(active bool, verification string) []statecheck.StateCheck {
		return []statecheck.StateCheck{has("active", knownvalue.Bool(active)), has("verification_state", knownvalue.StringExact(verification))}
	}
	acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
		{Config: output(rule(s, target, on)), ConfigStateChecks: state(true, vocab.VerificationPending)},
		{Config: output(rule(s, target, on)), ConfigPlanChecks: empty, ConfigStateChecks: state(true, vocab.VerificationPending)},
		{Config: rule(s, target), ConfigPlanChecks: plans(plancheck.ResourceActionUpdate), ConfigStateChecks: state(false, vocab.VerificationPending)},
		{Config: rule(s, target, on), ConfigPlanChecks: plans(plancheck.ResourceActionNoop), ConfigStateChecks: state(false, vocab.VerificationPending)},
		{PreConfig: func() { confirm(t, s) }, Config: rule(s, target, on), ConfigPlanChecks: plans(plancheck.ResourceActionNoop), ConfigStateChecks: state(true, vocab.VerificationVerified)},
		{
			PreConfig: func() { turn(t, s, false) }, Config: rule(s, target, on), ConfigPlanChecks: plans(plancheck.ResourceActionUpdate),
			ConfigStateChecks: state(true, vocab.VerificationVerified),
		},
		{Config: rule(s, `target_email = "joe@example.org"`, on), ConfigPlanChecks: plans(plancheck.ResourceActionUpdate), ConfigStateChecks: state(true, vocab.VerificationPending)},
		{Config: rule(s, `target_email = "joe@example.org"`, on), ConfigPlanChecks: plans(plancheck.ResourceActionNoop), ConfigStateChecks: state(true, vocab.VerificationPending)},
		{
			PreConfig: func() {
				if f := rules(t, s)[0]; f.TargetEmail != "joe@example.org" || f.Active {
					t.Errorf("the rule is %+v", f)
				}
				must(t, s.Client.DeleteForwarding(t.Context(), rules(t, s)[0].ID))
			},
			Config: rule(s, `target_email = "joe@example.org"`, on), ConfigPlanChecks: plans(plancheck.ResourceActionCreate),
		},
	}})
}

// TestSwitchWhilePending checks that a pending rule is switched off although the API
// reports it as inactive, and that it can't be switched on before the verification, which
// causes no plan.
func TestSwitchWhilePending(t *testing.T) {
	s := acctest.NewServer(t, acctest.Options{})
	const target, off = `target_email = "jane@example.org"`, `active = false`
	acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
		{Config: rule(s, target)},
		{
			Config: rule(s, target, off),
			ConfigPlanChecks: plans(plancheck.ResourceActionUpdate,
				plancheck.ExpectKnownValue(address, tfjsonpath.New("verification_state"), knownvalue.StringExact(vocab.VerificationPending))),
		},
		{Config: rule(s, target), ConfigPlanChecks: plans(plancheck.ResourceActionNoop)},
		{
			PreConfig: func() { confirm(t, s) }, Config: rule(s, target), ConfigPlanChecks: plans(plancheck.ResourceActionUpdate),
			ConfigStateChecks: []statecheck.StateCheck{has("active", knownvalue.Bool(true))},
		},
	}})
}

// TestSwitchAndTarget checks that another target does not change the switch.
func TestSwitchAndTarget(t *testing.T) {
	s := acctest.NewServer(t, acctest.Options{})
	d := s.Domain(t, "example.com")
	s.Mailbox(t, d.ID, "office")
	acctest.Test(t, resource.TestCase{Steps: []resource.TestStep{
		{Config: rule(s, `target_email = "jane@example.org"`, `active = false`)},
		{
			Config:            rule(s, `target_email = "office@example.com"`, `active = false`),
			ConfigStateChecks: []statecheck.StateCheck{has("active", knownvalue.Bool(false))},
		},
		{
			Config:            rule(s, `target_email = "joe@example.org"`),
			ConfigPlanChecks:  plans(plancheck.ResourceActionUpdate, plancheck.ExpectUnknownValue(address, tfjsonpath.New("active"))),
			ConfigStateChecks: []statecheck.StateCheck{has("verification_state", knownvalue.StringExact(vocab.VerificationPending))},
		},
		{
			Config:            rule(s, `target_email = "office@example.com"`),
			ConfigStateChecks: []statecheck.StateCheck{has("active", knownvalue.Bool(true))},
		},
	}})
}

// TestSwitchUnsupported checks that an API that can't switch a rule off creates it with a
// warning, and that later plans are empty.
func TestSwitchUnsupported(t *testing.T) {
	t.Parallel()
	s := acctest.NewServer(t, acctest.Options{PublishedOnly: true})
	p := s.Protocol(t, "")
	config := attributes{"target_email": "jane@example.org", "active": false}
	made, diags := p.Apply(t.Context(), typeName, config, nil)
	p.NoErrors(diags)
	acctest.Expect(t, diags, `WARNING at AttributeName("active")`, "no operation that switches a rule off", "as soon as the recipient has confirmed")
	read, diags := p.Read(typeName, made)
	p.NoErrors(diags)
	if plan, _ := p.Plan(typeName, config, read); !plan.State.Equal(made.State) {
		t.Errorf("the second plan is %s", plan.State)
	}
	confirm(t, s)
	p = s.Protocol(t, "") // a new process has an empty cache
	read, diags = p.Read(typeName, read)
	p.NoErrors(diags)
	_, diags = p.Apply(t.Context(), typeName, config, read)
	acctest.Expect(t, diags, `ERROR at AttributeName("active")`, "Can't switch the forwarding rule to jane@example.org of the account off", "still forwards mail")
}

// turn switches the only rule outside Terraform.
func turn(t *testing.T, s *acctest.Server, on bool) {
	t.Helper()
	_, err := s.Client.SetForwardingActive(t.Context(), rules(t, s)[0].ID, on)
	must(t, err)
}
