package service

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

// The values of on_existing: adopt or refuse an existing object in place of a create.
const (
	AdoptExisting  = "adopt"
	RefuseExisting = "error"
)

// OnExisting returns the attribute on_existing. Its description contains the name of the object, such as
// "the mailbox", and the fields that an adoption sets: those of T, such as the body of an update, without
// the natural key. proviso, which may be "", qualifies them, as in ", without buying anything".
func OnExisting[T any](what, proviso string, key ...string) schema.StringAttribute {
	var sets []string
	for _, f := range api.FieldsOf(reflect.TypeFor[T]()) {
		if !slices.Contains(key, f.Name) {
			sets = append(sets, "`"+f.Name+"`")
		}
	}
	return schema.StringAttribute{
		Optional:   true,
		Validators: []validator.String{validate.Choice(AdoptExisting, RefuseExisting)},
		MarkdownDescription: fmt.Sprintf("What happens if %s exists already: `error` makes the plan fail, or the apply if only that can know it, before anything is bought or changed, and prints the `import` block; "+
			"`adopt` manages it from now on and sets %s, as far as the configuration does%s, and the plan says what will be changed. Default: `error`.", what, report.Enumeration(sets), proviso),
	}
}

// Adopts reports whether on_existing is "adopt".
func Adopts(onExisting types.String) bool { return onExisting.ValueString() == AdoptExisting }

// Existing is an object that a create would duplicate.
type Existing struct {
	// Label names the object, as in "mailbox jane@example.com".
	Label string
	// Object identifies the object, with the natural keys of the create.
	session.Object
	// ImportKey is an import id for people.
	ImportKey string
	// Changes describes the changes of an adoption, such as "first_name from Jane to Joan".
	Changes []string
	// Note is a sentence about the adoption, or "".
	Note string
	// Choice is another way out of the error that the object exists, or "".
	Choice string
	// losses returns the losses of the adoption.
	losses func(connection) []Loss
}

// DescribeExisting describes an object that the create of plan would duplicate. Its Changes are the
// ChangedArguments except unchanged, which an adoption does not change.
func (d *Definition[T, M]) DescribeExisting(ctx context.Context, found *T, plan M, importKey string, unchanged ...string) Existing {
	e := Existing{Label: plan.String(), Object: session.Object{Type: d.typeName(), ID: idOf(found), IsValuable: d.IsValuable}, ImportKey: importKey}
	var now M
	d.flatten(&now, found)
	from, to := attribute.Values(now), attribute.Values(plan)
	if d.NaturalKeys != nil {
		planned := attribute.Raw{}
		for name, value := range to {
			planned[name], _ = value.ToTerraformValue(ctx)
		}
		e.Keys = d.NaturalKeys(planned)
	}
	e.losses = func(c connection) []Loss {
		return d.Losses(ctx, Change[M]{connection: c, Fate: Adopted, Before: now, After: plan})
	}
	for _, name := range d.ChangedArguments(ctx, now, plan) {
		if !slices.Contains(unchanged, name) {
			e.Changes = append(e.Changes, name+" from "+attribute.Shown(ctx, from[name])+" to "+attribute.Shown(ctx, to[name]))
		}
	}
	return e
}

// AdoptOrRefuse reports in a plan that the object to be created exists: with a warning if on_existing adopts
// it and no other resource manages it, and otherwise with an error that contains its import block. It reports
// nothing if the object may be gone when the create runs, for instance because a replacement deletes it first.
func (c *connection) AdoptOrRefuse(diags *diag.Diagnostics, onExisting types.String, e Existing) {
	if c.Walk().MayBeGone(e.Object) {
		return
	}
	switch conflict := c.Walk().PlanExisting(e.Object, Adopts(onExisting)); {
	case conflict == session.NoConflict:
		c.WarnAdoption(diags, e)
	case c.Walk().MayReport():
		AddExistsError(diags, e, conflict)
	}
}

// WarnAdoption warns in a plan of the losses of an adoption, and that the plan adopts the object.
func (c *connection) WarnAdoption(diags *diag.Diagnostics, e Existing) {
	AddLosses(diags, e.losses(*c)...)
	changes := ""
	if len(e.Changes) > 0 {
		changes = "The adoption changes:" + report.Bullets(e.Changes) + "\n\nTo keep a value, set it in the configuration."
	}
	diags.AddAttributeWarning(path.Root("on_existing"), fmt.Sprintf("The plan adopts the %s", e.Label), report.Paragraphs(changes,
		"It exists already, with the id "+e.ID+", so nothing is created. This resource manages it after the apply: a destroy deletes it.", e.Note))
}

// WarnAdopted warns after an apply that an object was adopted, if the plan could not know it.
func WarnAdopted(diags *diag.Diagnostics, e Existing) {
	detail := report.Paragraphs("It existed already, with the id "+e.ID+", so nothing was created. This resource manages it from now on: a destroy deletes it.", e.Note)
	if len(e.Changes) > 0 {
		detail += "\n\nThe adoption changed:" + report.Bullets(e.Changes)
	}
	diags.AddWarning(fmt.Sprintf("The %s was adopted", e.Label), detail)
}

// AddExistsError adds the error of a create of an existing object. conflict describes which resource manages it:
// an object that a resource of the configuration or the state has can't be imported by another one.
func AddExistsError(diags *diag.Diagnostics, e Existing, conflict session.Conflict) {
	next := WaysOut
	if conflict == session.Exists {
		next = ExistsAdvice(e.Type, e.ImportKey)
	}
	diags.AddError(conflictSummary(e.Label, conflict), report.Paragraphs(conflictReason(e.ID, conflict), e.Choice, next))
}

// ExistsAdvice returns the advice for an error about an existing object.
func ExistsAdvice(resourceType, importKey string) string {
	return report.Paragraphs(report.ImportAdvice(resourceType, importKey),
		"With on_existing = \"adopt\" the resource adopts it without an import, for instance after an apply that was killed.",
		"If Terraform's state has it already, do neither. "+WaysOut)
}

// ChangedArguments returns the names of the arguments that differ, except those that replace the object.
func (d *Definition[T, M]) ChangedArguments(ctx context.Context, before, after M) (names []string) {
	if d.Attributes == nil {
		return nil
	}
	from, to := attribute.Values(before), attribute.Values(after)
	for name, a := range d.Attributes() {
		if (a.IsRequired() || a.IsOptional()) && !slices.Contains(d.ReplacedBy, name) && !attribute.MeanSame(ctx, from[name], to[name]) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// ExistingGuide is the address of the page with the ways out for an object that a second resource, or a
// second address of the state, would manage.
const ExistingGuide = report.Guides + "import#when-an-object-exists-already"

// WaysOut is the advice for an object that a second resource, or a second address of the state, would manage.
const WaysOut = "A tainted resource needs terraform untaint, a renamed one a moved block, and -replace can't replace it. Every cause and its way out: " + ExistingGuide

// AddConflict adds the error of a plan or an apply if another resource manages the object. id is ""
// if it is unknown.
func AddConflict(diags *diag.Diagnostics, label, id string, conflict session.Conflict) {
	diags.AddError(conflictSummary(label, conflict), report.Paragraphs(conflictReason(id, conflict), WaysOut))
}

// conflictSummary returns the same summary for a create that finds the object, and for the resource
// that manages it.
func conflictSummary(label string, conflict session.Conflict) string {
	if conflict == session.Created || conflict == session.Twice {
		return "Two resources have the " + label
	}
	return "The " + label + " exists already"
}

func conflictReason(id string, conflict session.Conflict) string {
	reason := "Nothing was bought, created or changed for this resource."
	if id != "" {
		return fmt.Sprintf("It exists, with the id %s, and %s. %s", id, conflict, reason)
	}
	return report.Sentence(string(conflict)) + " " + reason
}

// adoptedKey is the key of the private state in which a plan stores the id of the valuable object that it
// adopts. Core passes the plan's private state to the delete of the tainted object that the create replaces,
// and no other call shows that both are the same object. A create begins with an empty private state, so
// that the key never reaches the state.
const adoptedKey = "adopted"

// StoreAdopted stores the id of the adopted object in a plan, so that the plan's delete does not delete it.
func StoreAdopted(ctx context.Context, private PrivateState, id string, diags *diag.Diagnostics) {
	if id != "" {
		diags.Append(SetPrivate(ctx, private, adoptedKey, id)...)
	}
}

// addNotDeleted adds the error of deleting an object that this run acquires.
func addNotDeleted(diags *diag.Diagnostics, label, id string) {
	diags.AddError(fmt.Sprintf("The %s was not deleted", label),
		report.Paragraphs(fmt.Sprintf("This run creates or adopts it for a resource that stays, and a delete would remove it from that resource. Nothing was deleted. Its id is %s.", id), WaysOut))
}
