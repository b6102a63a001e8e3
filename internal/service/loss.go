package service

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
)

// Fate is the outcome of a plan for an object.
type Fate int

// The fates. A create that adopts has two changes: Created, and Adopted with the existing object.
const (
	Created Fate = iota
	Adopted
	Updated
	Replaced
	Destroyed
)

// Change is the planned change of an object, for [Definition.Losses].
type Change[M any] struct {
	connection
	Fate
	// Before is empty for Created, the existing object for Adopted, and the state otherwise. After is
	// empty for Destroyed. Its values may be unknown.
	Before, After M
	// Replacing lists the arguments that replace the object. It is empty for -replace.
	Replacing path.Paths
	// Private is the private state of the object, or nil for Adopted.
	Private PrivateState
}

// Asset is a part of the account that a plan can end or spend.
type Asset string

// The assets. Reach is where mail and web traffic go: MX, SPF, DMARC, targets of forwarding rules, redirects. Purchase is
// money that the apply spends, and Money is what was paid for.
const (
	Mail     Asset = "mail"
	DNS      Asset = "DNS"
	Access   Asset = "access"
	Money    Asset = "money"
	Purchase Asset = "purchase"
	Reach    Asset = "reach"
)

// Loss is a loss of a planned change, or a purchase. The plan shows it as a warning, or as an error if
// its Guard refuses it.
type Loss struct {
	Of []Asset
	// Does completes the summary "The plan ". It begins with a verb and names the object, as in
	// "deletes the mailbox jane@example.com with its mail".
	Does string
	// At is the attribute that causes the loss, or empty.
	At path.Path
	// The paragraphs of the warning, all optional: the cause, the lost objects after an introduction
	// that ends with a colon, the consequence, and the way to avoid it.
	Because     string
	Lists       string
	Items       []string
	Consequence string
	Keep        string
	// Again means that the account may have the purchased object already.
	Again bool
	Guard *Guard
}

// Guard refuses a plan with a larger loss than the configuration allows.
type Guard struct {
	// Does replaces the Does of the loss after "The plan would ", for a loss with objects that don't count. Lists
	// replaces its Lists.
	Does, Lists string
	// Counted lists the lost objects that count.
	Counted []string
	// Max is max_deletions. Default replaces a null or unknown value.
	Max     types.Int64
	Default int
	// Next is the advice after a refusal.
	Next string
}

// Ending returns the loss of a destroyed or replaced object. verb is the verb of a destroy, such as "deletes".
func (ch Change[M]) Ending(verb, object string, of ...Asset) Loss {
	if ch.Fate == Replaced {
		return Loss{Of: of, Does: "replaces " + object, Keep: "Apply only if you intend that; to keep the object, undo the change. " +
			"With lifecycle { destroy = false }, OpenTofu only forgets it, and Terraform deletes it all the same."}
	}
	return Loss{Of: of, Does: verb + " " + object, Keep: "To keep it and only remove it from the state, use a removed block with destroy = false (or terraform state rm) instead."}
}

// refuses reports whether the loss is an error, and the allowed number in words.
func (g *Guard) refuses() (allowed string, refuses bool) {
	most := g.Max.ValueInt64()
	switch {
	case g.Max.IsUnknown():
		most, allowed = int64(g.Default), "max_deletions is known only after the apply"
	case g.Max.IsNull() && g.Default > 0:
		most, allowed = int64(g.Default), fmt.Sprintf("without max_deletions at most %d", g.Default)
	case g.Max.IsNull():
		most, allowed = 0, "max_deletions is 0"
	default:
		allowed = fmt.Sprintf("max_deletions is %d", most)
	}
	return allowed, int64(len(g.Counted)) > most
}

// AddLosses adds the warning or the error of each loss. The last line of a warning, "Concerns: " with the
// assets, is for programs: examples/ci/plan.sh reads it.
func AddLosses(diags *diag.Diagnostics, losses ...Loss) {
	for _, l := range losses {
		if l.Guard != nil {
			if allowed, refuses := l.Guard.refuses(); refuses {
				l.refuse(diags, allowed)
				continue
			}
		}
		var concerns []string
		for _, a := range l.Of {
			concerns = append(concerns, string(a))
		}
		if l.Again {
			concerns = append(concerns, "a second time")
		}
		lists := ""
		if len(l.Items) > 0 {
			lists = l.Lists + report.Bullets(l.Items)
		}
		l.add(diag.NewWarningDiagnostic("The plan "+l.Does, report.Paragraphs(l.Because, lists, l.Consequence, l.Keep, "Concerns: "+strings.Join(concerns, ", "))), diags)
	}
}

func (l Loss) refuse(diags *diag.Diagnostics, allowed string) {
	verb, rest, _ := strings.Cut(l.Does, " ")
	does := cmp.Or(l.Guard.Does, strings.TrimSuffix(verb, "s")+" "+rest)
	next := l.Guard.Next
	if l.Guard.Max.IsUnknown() {
		next = report.Paragraphs("Set max_deletions to a value that the plan knows.", next)
	}
	l.At = path.Root("max_deletions")
	l.add(diag.NewErrorDiagnostic(fmt.Sprintf("The plan would %s, and %s", does, allowed),
		report.Paragraphs(l.Because, cmp.Or(l.Guard.Lists, l.Lists)+report.Bullets(l.Guard.Counted), "Nothing was changed. "+next)), diags)
}

func (l Loss) add(d diag.Diagnostic, diags *diag.Diagnostics) {
	if len(l.At.Steps()) > 0 {
		d = diag.WithPath(l.At, d)
	}
	diags.Append(d)
}

// reportLosses adds the losses of a plan, before its other warnings. An object that the API can't delete is
// no loss, but an orphan.
func (r *Resource[T, M]) reportLosses(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var problems diag.Diagnostics
	ch := Change[M]{connection: r.connection, Fate: Updated, Replacing: resp.RequiresReplace, Private: req.Private}
	ch.After, ch.Before = r.models(ctx, resp.Plan, req.State, &problems)
	switch {
	case problems.HasError(): // reported by planOwn
		return
	case req.State.Raw.IsNull():
		ch.Fate = Created
	case resp.Plan.Raw.IsNull():
		ch.Fate = Destroyed
	case len(resp.RequiresReplace) > 0:
		ch.Fate = Replaced
	case resp.Plan.Raw.Equal(req.State.Raw):
		return
	}
	var reported diag.Diagnostics
	if c := r.orphaning(ctx, req, resp); c != nil {
		r.warnOrphan(ctx, c, req.State.Raw, ch.Before, &reported)
	} else {
		AddLosses(&reported, r.Losses(ctx, ch)...)
	}
	resp.Diagnostics = append(reported, resp.Diagnostics...)
}

// orphaning returns the client if the plan destroys or replaces an object that the API can't delete. It
// can't detect a replacement by -replace: Terraform shows no warnings of the second plan, and the first
// plan looks like a change.
func (r *Resource[T, M]) orphaning(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) *client.Client {
	if r.OrphanConsequence == nil || req.State.Raw.IsNull() || !DestroysOrReplaces(resp) {
		return nil
	}
	c := r.ClientIfOpen(ctx)
	if c == nil || c.Supports(ctx, r.DeleteOperation, attribute.TextOf(req.State.Raw, "id")) {
		return nil
	}
	return c
}

// WillOrphan reports whether the plan destroys or replaces an object that the API can't delete.
func (r *Resource[T, M]) WillOrphan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) bool {
	return !resp.Diagnostics.HasError() && r.orphaning(ctx, req, resp) != nil
}

// warnOrphan warns that the API can't delete an object, in the plan of its destroy and in the apply.
func (r *Resource[T, M]) warnOrphan(ctx context.Context, c *client.Client, raw tftypes.Value, state M, diags *diag.Diagnostics) {
	next := ". It can't be imported again, because this API can't read it either."
	if slices.ContainsFunc(api.Specs(), func(s api.Spec) bool {
		return s.Kind == r.DeleteOperation.Kind && s.Method == http.MethodGet && !s.Lifecycle()
	}) {
		next = "; to manage it again, import it."
	}
	diags.AddWarning(fmt.Sprintf("The %s will still exist", state), report.Paragraphs(
		"This API has no operation that deletes it, so it is only dropped from Terraform's state. Its id is "+attribute.TextOf(raw, "id")+".", r.OrphanConsequence(ctx, c, state),
		"If you no longer need it, remove it in the service's own control panel"+next))
}
