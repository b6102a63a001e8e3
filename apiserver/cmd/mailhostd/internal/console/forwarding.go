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

func listForwarding(v *visit) (view, error) {
	names := namesFor(v)
	list, err := call(v, api.ListForwarding, &api.ListForwardingRequest{Paged: v.page(rowsPerPage), Search: v.query("search"), VerificationState: v.query("state")})
	return listView(v, "forwarding.html", "Forwarding", list, err, func(f api.Forwarding) forwardingRow {
		return forwardingRow{
			f, names.Scope(f.ScopeType, f.ScopeID), f.VerificationState == vocab.VerificationPending || f.VerificationState == vocab.VerificationExpired,
		}
	}, vocab.VerificationPending, vocab.VerificationExpired, vocab.VerificationVerified, vocab.VerificationInternal)
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
