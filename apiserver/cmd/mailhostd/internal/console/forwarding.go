package console

import (
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/apiclient"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

func listForwarding(v *visit) (view, error) {
	list, err := call(v, api.ListForwarding, &api.ListForwardingRequest{Paged: v.page(rowsPerPage), Search: v.query("search"), VerificationState: v.query("state")})
	return listView(v, "forwarding.html", "Forwarding", list, err, same[api.Forwarding],
		vocab.VerificationPending, vocab.VerificationExpired, vocab.VerificationVerified, vocab.VerificationInternal)
}

// resendVerification sets the rule's target to the same address, which sends a new message.
func resendVerification(v *visit) (view, error) {
	in := &api.UpdateForwardingRequest{ForwardingID: v.PathValue("id"), Body: api.UpdateForwardingBody{TargetEmail: formValue(v.Request, "target")}}
	// Check the rule's current target, which must not be changed back to this one.
	rules := &api.ListForwardingRequest{Search: in.Body.TargetEmail}
	for rule, err := range apiclient.All(v.Context(), v.api, api.ListForwarding, rules) {
		if err != nil {
			return view{}, err
		}
		if rule.ID == in.ForwardingID && rule.TargetEmail == in.Body.TargetEmail {
			_, err := call(v, api.UpdateForwarding, in)
			return view{RedirectTo: "/forwarding" + queryOf("done", "resent")}, err
		}
	}
	return view{}, notFound("There is no such rule with this target any more.")
}
