package console

import (
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/apiclient"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

type forwardingRow struct {
	api.Forwarding
	Scope string
	// Resend reports that a new message can be sent.
	Resend bool
}

type forwardingPage struct {
	Rows          []forwardingRow
	Pager         pager
	Search, State string
	States        []string
}

func listForwarding(v *visit) (view, error) {
	p := forwardingPage{
		Search: v.query("search"), State: v.query("state"),
		States: []string{vocab.VerificationPending, vocab.VerificationExpired, vocab.VerificationVerified, vocab.VerificationInternal},
	}
	list, err := call(v, api.ListForwarding, &api.ListForwardingRequest{Paged: v.page(rowsPerPage), Search: p.Search, VerificationState: p.State})
	if err != nil {
		return view{}, err
	}
	names := namesFor(v)
	for _, f := range list.Items {
		p.Rows = append(p.Rows, forwardingRow{
			f, names.Scope(f.ScopeType, f.ScopeID), f.VerificationState == vocab.VerificationPending || f.VerificationState == vocab.VerificationExpired,
		})
	}
	p.Pager = pagerOf(v, *list)
	return view{Template: "forwarding.html", Title: "Forwarding", Data: p}, nil
}

// resendVerification sets the target that the rule has, which sends a new message.
func resendVerification(v *visit) (view, error) {
	in := &api.UpdateForwardingRequest{ForwardingID: v.PathValue("id"), Body: api.UpdateForwardingBody{TargetEmail: formValue(v.Request, "target")}}
	// The rule may have another target by now, which must not be changed back.
	rules := &api.ListForwardingRequest{Search: in.Body.TargetEmail}
	for rule, err := range apiclient.All(v.Context(), v.api, api.ListForwarding, rules) {
		if err != nil {
			return view{}, err
		}
		if rule.ID != in.ForwardingID || rule.TargetEmail != in.Body.TargetEmail {
			continue
		}
		if _, err := call(v, api.UpdateForwarding, in); err != nil {
			return view{}, err
		}
		return view{RedirectTo: "/forwarding" + queryOf("done", "resent")}, nil
	}
	return view{}, notFound("There is no such rule with this target any more.")
}
