package billing

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// order is a change of the account's plan.
type order struct {
	// verb completes "can't ... the plan of the account".
	verb string
	// what says what the order does, as in "the plan is cancelled now".
	what string
	// filled says, of an account as it is, that it has what is ordered; "" if not.
	filled func(*api.Account) string
	// send sends it.
	send func(context.Context, *client.Client) (*api.BillingResult, error)
	// unmet says why an answer is not what was ordered; "" if it is.
	unmet func(*api.BillingResult) string
}

// announce warns in a plan of what will be changed, unless it is already.
func (o order) announce(diags *diag.Diagnostics, c *client.Client, a *api.Account) {
	diags.AddWarning(fmt.Sprintf("The action will %s the plan of the account %s", o.verb, c.AccountID()),
		fmt.Sprintf("%s When the action runs, %s. What the account pays changes with it.", standing(a), o.what))
}

// place looks, sends the order if there is something to do, and tells what came
// of it.
func (o order) place(ctx context.Context, c *client.Client, resp *action.InvokeResponse) {
	before, ok := look(ctx, c, &resp.Diagnostics)
	if !ok {
		return
	}
	if done := o.isFilled(before); done != "" {
		service.Progress(resp, "%s Nothing was changed.", done)
		return
	}
	service.Progress(resp, "Account %s: %s With this action %s.", c.AccountID(), standing(before), o.what)
	result, err := o.send(ctx, c)
	if err != nil {
		o.failed(ctx, c, resp, before, err)
		return
	}
	service.Progress(resp, "The API has answered: %s.", told(result))
	if why := o.unmet(result); why != "" {
		resp.Diagnostics.AddError(o.cant(c), fmt.Sprintf("%s The API answered: %s.", why, told(result)))
	}
}

func (o order) isFilled(a *api.Account) string {
	if a == nil {
		return ""
	}
	return o.filled(a)
}

func (o order) cant(c *client.Client) string {
	return fmt.Sprintf("Can't %s the plan of the account %s", o.verb, c.AccountID())
}

// failed tells why there is no answer that says yes. Where the answer was lost,
// the account may say that the order was carried out all the same.
func (o order) failed(ctx context.Context, c *client.Client, resp *action.InvokeResponse, before *api.Account, err error) {
	_, unknown := errors.AsType[*client.UnknownOutcomeError](err)
	cancelled := &api.Account{ID: c.AccountID(), Status: vocab.AccountCancelled}
	switch {
	case unknown && before != nil:
		o.lost(ctx, c, resp, err)
	case !unknown && service.IsAccountCancelled(err) && o.filled(cancelled) != "":
		service.Progress(resp, "%s Nothing was changed.", o.filled(cancelled))
	default:
		service.AddError(&resp.Diagnostics, err, o.cant(c), service.Fields{})
	}
}

// lookGrace is how long the look after a lost answer may take, also when the
// user has given up.
const lookGrace = 10 * time.Second

// lost looks whether an order without an answer was carried out.
func (o order) lost(ctx context.Context, c *client.Client, resp *action.InvokeResponse, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookGrace)
	defer cancel()
	after, readErr := c.GetAccount(ctx)
	if done := o.isFilled(after); readErr == nil && done != "" {
		service.Progress(resp, "The API's answer was lost, but the order was carried out. %s", done)
		return
	}
	next := ""
	if readErr == nil {
		next = "The account was read again since: " + standing(after) + " That may still change while the order is at work."
	}
	service.AddErrorAdvising(&resp.Diagnostics, err, o.cant(c), nil, next)
}

// refused reports whether an answer says that nothing was changed.
func refused(r *api.BillingResult) bool { return r.Eligible != nil && !*r.Eligible }

// told says what an answer does.
func told(r *api.BillingResult) string {
	var parts []string
	add := func(format string, value *string) {
		if value != nil && *value != "" {
			parts = append(parts, fmt.Sprintf(format, *value))
		}
	}
	add("%s", &r.Status)
	if refused(r) && r.PreviousPlanID != nil && value(r.PreviousPlanID) == value(r.TargetPlanID) {
		parts = append(parts, "that is the plan already, so that nothing was changed")
	} else if refused(r) {
		parts = append(parts, "the account was not eligible, so that nothing was changed")
	}
	add("the account's status is %s", r.AccountStatus)
	add("the plan before is %s", r.PreviousPlanID)
	add("the plan then is %s", r.TargetPlanID)
	add("it takes effect at %s", r.EffectiveAt)
	if parts == nil {
		return "done, without any detail"
	}
	return strings.Join(parts, ", ")
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
