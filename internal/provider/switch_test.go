package provider_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// TestSwitches switches forwarding rules on and off before and after their verification, which
// causes no plan itself.
func TestSwitches(t *testing.T) {
	t.Parallel()
	jane, joe, office := values{"target_email": "jane@example.org"}, values{"target_email": "joe@example.org"}, values{"target_email": "office@example.com"}
	state := func(active bool, verification string) values {
		return values{"active": active, "verification_state": verification}
	}
	for name, steps := range map[string]func(r *rule) []step{
		"verified": func(r *rule) []step {
			return []step{
				{config: jane, does: creates, want: state(false, vocab.VerificationPending)},
				{before: func() error { r.s.Advance(100 * time.Hour); return nil }, config: jane, does: noChange, want: state(false, vocab.VerificationExpired)},
				{before: func() error { return r.s.Client.DeleteForwarding(r.Context(), r.o.Text("id")) }, config: jane, does: creates, want: state(false, vocab.VerificationPending)},
				{before: r.confirm, config: jane, does: noChange, want: state(true, vocab.VerificationVerified)},
			}
		},
		"off": func(r *rule) []step {
			off := with(jane, "active", false)
			return []step{
				{config: off, does: creates, want: values{"active": false}},
				{before: r.confirm, config: off, does: noChange, want: values{"active": false}},
				{config: jane, does: updates, planned: values{"active": true, "verification_state": isSet}, want: values{"active": true}},
				{config: off, does: updates, planned: values{"active": false, "verification_state": isSet}, want: values{"active": false}},
				{before: r.turned(true), config: off, does: updates, planned: values{"active": false}, want: values{"active": false}},
				{config: jane, does: updates, planned: values{"active": true}, want: values{"active": true}},
				{before: r.turned(false), config: jane, does: noChange, want: values{"active": false}},
			}
		},
		"on": func(r *rule) []step {
			on, otherOn := with(jane, "active", true), with(joe, "active", true)
			return []step{
				{config: on, does: creates, want: state(true, vocab.VerificationPending)},
				{config: jane, does: updates, want: state(false, vocab.VerificationPending)},
				{config: on, does: noChange, want: state(false, vocab.VerificationPending)},
				{before: r.confirm, config: on, does: noChange, want: state(true, vocab.VerificationVerified)},
				{before: r.turned(false), config: on, does: updates, want: state(true, vocab.VerificationVerified)},
				{config: otherOn, does: updates, want: state(true, vocab.VerificationPending)},
				{before: func() error { return r.s.Client.DeleteForwarding(r.Context(), r.o.Text("id")) }, config: otherOn, does: creates},
			}
		},
		"off while pending": func(r *rule) []step {
			return []step{
				{config: jane, does: creates},
				{config: with(jane, "active", false), does: updates, planned: values{"verification_state": vocab.VerificationPending}},
				{config: jane, does: noChange},
				{before: r.confirm, config: jane, does: updates, want: values{"active": true}},
			}
		},
		"with another target": func(*rule) []step {
			return []step{
				{config: with(jane, "active", false), does: creates},
				{config: with(office, "active", false), does: updates, want: values{"active": false}},
				{config: joe, does: updates, planned: values{"active": isUnknown}, want: values{"verification_state": vocab.VerificationPending}},
				{config: office, does: updates, want: values{"active": true}},
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := acctest.NewServer(t, acctest.Options{})
			s.Domain(t, "example.com")
			s.Mailbox(t, "example.com", "office")
			r := &rule{subject{T: t, s: s, p: s.Protocol(t, ""), typeName: "mailhost_forwarding"}}
			for i, step := range steps(r) {
				r.take(i, step)
			}
		})
	}
}

// rule is a forwarding rule whose switch is tested.
type rule struct{ subject }

// confirm opens the verification link of the newest message.
func (r *rule) confirm() error {
	messages := r.s.Service.Outbox()
	link, err := url.Parse(messages[len(messages)-1].Link)
	if err != nil {
		return err
	}
	resp, err := http.Post(r.s.URL+link.Path, "", nil)
	if err != nil {
		return err
	}
	assert.Check(r, resp.StatusCode == http.StatusOK, "the verification link returns %s", resp.Status)
	return resp.Body.Close()
}

// turned switches the rule outside Terraform.
func (r *rule) turned(on bool) func() error {
	return func() error {
		var f *api.Forwarding
		f, err := r.s.Client.SetForwardingActive(r.Context(), r.o.Text("id"), on)
		assert.Check(r, err != nil || f.Active == on, "the rule is %+v", f)
		return err
	}
}
