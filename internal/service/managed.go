package service

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

// Managed is a resource that embeds [Resource]. Its operations get the account's client and the
// models of the plan and the state.
type Managed[T any, M fmt.Stringer] interface {
	ImportState(context.Context, resource.ImportStateRequest, *resource.ImportStateResponse)

	// ModifyPlan gets a plan or a state without values if it is null.
	ModifyPlan(ctx context.Context, plan, state M, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse)
	Create(ctx context.Context, c *client.Client, plan M, req resource.CreateRequest, resp *resource.CreateResponse)
	// Read sets the state from the API. An object that is not found is dropped from the state, and
	// one that the API can't read stays as it is.
	Read(ctx context.Context, c *client.Client, state *M, req resource.ReadRequest, resp *resource.ReadResponse) error
	Update(ctx context.Context, c *client.Client, plan, state M, req resource.UpdateRequest, resp *resource.UpdateResponse)
	// Delete deletes the object. If the API can't, there is a warning.
	Delete(ctx context.Context, c *client.Client, state M, req resource.DeleteRequest, resp *resource.DeleteResponse) error

	Base() *Resource[T, M]
}

// Manage returns the resource with what every resource needs around its calls:
//
//   - A plan replaces the object if an argument of ReplacedBy or the scope changes, see
//     [Resource.planReplacement].
//   - An update that changes nothing is dropped from a plan, see [DropEmptyUpdate].
//   - A plan that destroys or replaces an object warns if the API can't delete it.
//   - The state after an apply has what the plan knows, see keepPlanned.
//   - An object in the state is read, changed or deleted only through a connection to
//     its own account, see [account]. In another account it would seem to be gone.
//   - Every call is recorded in the [session.Walk], so that a plan or an apply fails in
//     which two resources have the same object, before one deletes it for the other.
//   - An error that concerns the connection as a whole is reported in full once per walk.
//     Reads and plans of other objects then have no error, and changes a short one.
func Manage[T any, M fmt.Stringer](r Managed[T, M]) resource.Resource {
	return &managed[T, M]{r.Base(), r}
}

type managed[T any, M fmt.Stringer] struct {
	*Resource[T, M]
	own Managed[T, M]
}

// walk returns the record of the walk. Objects that several resources may have are in none.
func (m *managed[T, M]) walk() *session.Walk {
	if m.Shared {
		return &session.Walk{}
	}
	return m.Walk()
}

func (m *managed[T, M]) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	switch {
	case !req.State.Raw.IsNull():
		if m.checkAccount(ctx, req.Identity, req.Private, &resp.Diagnostics) {
			m.keepComputed(req, resp)
			m.planReplacement(ctx, req, resp)
			DropEmptyUpdate(req, resp)
			m.modifyPlan(ctx, req, resp)
			m.warnOrphaned(ctx, req, resp)
			m.recordChange(ctx, req, resp)
		}
	case !m.checkAccess(ctx, &resp.Diagnostics):
	default:
		o := m.object(req.Plan.Raw)
		if o.IsValuable && attribute.TextOf(req.Plan.Raw, "on_existing") == adoptExisting {
			m.walk().AwaitOwners(ctx, o)
		}
		if m.report(ctx, o, m.walk().PlanCreate(o), req.Plan.Get, &resp.Diagnostics) {
			m.modifyPlan(ctx, req, resp)
			m.planKnown(ctx, &resp.Plan, &resp.Diagnostics)
		}
	}
	// A create that was planned without a lookup may differ from the first plan, which core
	// reports as a bug of the provider. So its error is never dropped.
	report.Once(&resp.Diagnostics, !req.State.Raw.IsNull())
}

func (m *managed[T, M]) modifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if plan, state, ok := m.Models(ctx, req, resp); ok {
		// A plan that keeps the object in its domain looks nothing up, and a set and a zone do it themselves.
		if ref := attribute.TextOf(resp.Plan.Raw, "domain"); m.Names != "" && ref != attribute.TextOf(req.State.Raw, "domain") {
			m.WarnMissingDomain(ctx, ref, &resp.Diagnostics)
		}
		m.own.ModifyPlan(ctx, plan, state, req, resp)
	}
}

// planKnown plans the computed attributes of a new object that are known. That also binds the
// plan to its account: core refuses an apply whose plan has other values.
func (m *managed[T, M]) planKnown(ctx context.Context, plan *tfsdk.Plan, diags *diag.Diagnostics) {
	c := m.ClientForWarning(ctx)
	if c == nil || diags.HasError() {
		return
	}
	accountID, _ := customtype.UUID.Normalize(c.AccountID())
	for name, value := range m.known(attribute.RawOf(plan.Raw), accountID) {
		diags.Append(plan.SetAttribute(ctx, path.Root(name), value)...)
	}
}

// recordChange records the plan for an object of the state in the walk.
func (m *managed[T, M]) recordChange(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	walk, o := m.walk(), m.object(req.State.Raw)
	plan := walk.PlanKeep
	switch {
	case req.Plan.Raw.IsNull():
		plan = walk.PlanDestroy
	case DestroysOrReplaces(resp):
		plan = walk.PlanReplace
	}
	m.report(ctx, o, plan(o), req.State.Get, &resp.Diagnostics)
}

// report adds the error of a conflict, and reports whether there is none.
func (m *managed[T, M]) report(ctx context.Context, o session.Object, conflict session.Conflict, get func(context.Context, any) diag.Diagnostics, diags *diag.Diagnostics) bool {
	if conflict != session.NoConflict && m.walk().MayReport() {
		AddConflict(diags, m.label(ctx, get), o.ID, conflict)
	}
	return conflict == session.NoConflict
}

func (m *managed[T, M]) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	defer report.Once(&resp.Diagnostics, false)
	ctx, cancel := m.withTimeout(ctx, req.Plan, &resp.Diagnostics)
	defer cancel()
	var plan M
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	c := m.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	m.own.Create(ctx, c, plan, req, resp)
	o := m.object(resp.State.Raw)
	if o.ID == "" {
		return
	}
	if conflict := m.walk().Acquire(o); conflict != session.NoConflict {
		// Nothing was created. An object in the state after an error would be tainted,
		// and the next apply would delete it for the other resource.
		resp.State.RemoveResource(ctx)
		resp.Diagnostics = nil
		AddConflict(&resp.Diagnostics, m.label(ctx, req.Plan.Get), o.ID, conflict)
		return
	}
	m.keepPlanned(req.Plan, &resp.State, resp.Diagnostics)
	if resp.State.Raw.IsFullyKnown() {
		m.keepAccount(ctx, resp.Private, &resp.Diagnostics)
	}
}

func (m *managed[T, M]) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	// A read that fails could otherwise not return without an error of its own. The account may be
	// unknown: no CLI keeps the results of such a walk.
	account := accountOf(ctx, req.Identity, req.Private, &resp.Diagnostics)
	resp.Diagnostics.Append(setIdentity(ctx, resp.Identity, account.ID, attribute.TextOf(req.State.Raw, "id"))...)
	if m.checkAccount(ctx, req.Identity, req.Private, &resp.Diagnostics) {
		m.read(m.ForRefresh(ctx), req, resp)
		switch walk, o := m.walk(), m.object(req.State.Raw); {
		case resp.Diagnostics.HasError():
		case resp.State.Raw.IsNull():
			walk.Gone(o)
		default:
			walk.Refreshed(o)
			m.keepAccount(ctx, resp.Private, &resp.Diagnostics)
		}
	}
	report.Once(&resp.Diagnostics, true)
}

func (m *managed[T, M]) read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state M
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	c := m.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(setIdentity(ctx, resp.Identity, c.AccountID(), attribute.TextOf(req.State.Raw, "id"))...)
	switch err := m.own.Read(ctx, c, &state, req, resp); {
	case err == nil:
		resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
	case client.IsNotFound(err):
		resp.State.RemoveResource(ctx)
	case errors.Is(err, client.ErrReadUnsupported) && hasOnlyID(req.State.Raw):
		m.addNoImport(&resp.Diagnostics, attribute.TextOf(req.State.Raw, "id"))
	case errors.Is(err, client.ErrReadUnsupported):
	default:
		report.Error(&resp.Diagnostics, err, "Can't read the "+state.String(), nil)
	}
}

func (m *managed[T, M]) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	defer report.Once(&resp.Diagnostics, false)
	if !m.checkAccount(ctx, req.Identity, req.Private, &resp.Diagnostics) {
		return
	}
	var plan, state M
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	c := m.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(setIdentity(ctx, resp.Identity, c.AccountID(), attribute.TextOf(req.State.Raw, "id"))...)
	m.own.Update(ctx, c, plan, state, req, resp)
	m.keepPlanned(req.Plan, &resp.State, resp.Diagnostics)
	m.keepAccount(ctx, resp.Private, &resp.Diagnostics)
}

// keepPlanned sets what the plan knows in the state that an apply leaves: core refuses another value,
// but for a set that is created in part. What the API has instead, because somebody else has changed it
// since the plan, the next refresh reads.
func (m *managed[T, M]) keepPlanned(plan tfsdk.Plan, state *tfsdk.State, diags diag.Diagnostics) {
	if m.Shared || diags.HasError() || state.Raw.IsNull() {
		return
	}
	applied := attribute.RawOf(state.Raw)
	for name, value := range attribute.RawOf(plan.Raw) {
		if value.IsFullyKnown() {
			applied[name] = value
		}
	}
	state.Raw = tftypes.NewValue(state.Raw.Type(), map[string]tftypes.Value(applied))
}

func (m *managed[T, M]) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	defer report.Once(&resp.Diagnostics, false)
	if !m.checkAccount(ctx, req.Identity, req.Private, &resp.Diagnostics) {
		return
	}
	walk, o := m.walk(), m.object(req.State.Raw)
	if walk.IsAcquired(o) {
		addNotDeleted(&resp.Diagnostics, m.label(ctx, req.State.Get), o.ID)
		return
	}
	var state M
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	c := m.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	switch err := m.own.Delete(ctx, c, state, req, resp); {
	case err == nil || client.IsNotFound(err):
	case errors.Is(err, client.ErrDeleteUnsupported):
		m.warnOrphan(ctx, c, req.State.Raw, state, &resp.Diagnostics)
	default:
		report.Error(&resp.Diagnostics, err, "Can't "+cmp.Or(m.DeleteVerb, "delete")+" the "+state.String(), nil)
	}
	if !resp.Diagnostics.HasError() {
		walk.Gone(o)
	}
}

func (m *managed[T, M]) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	m.own.ImportState(m.ForPlan(ctx), req, resp)
	if !resp.Diagnostics.HasError() {
		m.keepAccount(ctx, resp.Private, &resp.Diagnostics)
	}
	report.Once(&resp.Diagnostics, false)
}

// PrivateState is the provider's part of a resource's private state.
type PrivateState interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

// SetPrivate stores a value in the private state. It panics if the value can't be
// encoded as JSON.
func SetPrivate(ctx context.Context, p PrivateState, key string, value any) diag.Diagnostics {
	data, err := json.Marshal(value)
	if err != nil {
		panic("service: " + err.Error())
	}
	return p.SetKey(ctx, key, data)
}

// GetPrivate returns a value of the private state, or the zero value if it has none.
func GetPrivate[T any](ctx context.Context, p PrivateState, key string) (value T) {
	data, _ := p.GetKey(ctx, key) // an error means an invalid key
	if json.Unmarshal(data, &value) != nil {
		return *new(T)
	}
	return value
}

// account is the account of an object. A state has it in the resource identity, which not
// every CLI supports, and in the private state.
type account struct {
	ID string `json:"id"`
	// CreatedAt is "" unless the account is embedded. It distinguishes a lost account from
	// a new one with the same configured id.
	CreatedAt string `json:"created_at,omitempty"`
}

// accountKey is the key of [account] in the private state.
const accountKey = "account"

// accountOfSession returns the account of a session, or false if it can't be opened.
func accountOfSession(ctx context.Context, s *session.Session) (a account, ok bool) {
	c, err := s.Client(ctx)
	if err != nil {
		return a, false
	}
	return account{ID: c.AccountID(), CreatedAt: s.AccountCreatedAt(ctx)}, true
}

// accountOf returns the account of an object in the state, without an id if the state lacks it,
// as one of version 0.1.0 does in a CLI without identities.
func accountOf(ctx context.Context, identity *tfsdk.ResourceIdentity, private PrivateState, diags *diag.Diagnostics) (a account) {
	a = GetPrivate[account](ctx, private, accountKey)
	if identity != nil && !identity.Raw.IsNull() {
		var known Identity
		diags.Append(identity.Get(ctx, &known)...)
		if id := known.AccountID.ValueString(); id != "" {
			a.ID = id
		}
	}
	return a
}

// checkAccount adds an error and returns false if an object of the state is in another account
// than the connection's. It returns true if either is unknown.
func (m *managed[T, M]) checkAccount(ctx context.Context, identity *tfsdk.ResourceIdentity, private PrivateState, diags *diag.Diagnostics) bool {
	s, expected := m.Session, accountOf(ctx, identity, private, diags)
	if expected.ID == "" {
		return true
	}
	own, ok := accountOfSession(ctx, s)
	if !ok {
		return true
	}
	reason := own.mismatch(expected)
	if reason == "" {
		return true
	}
	diags.Append(report.ConnectionError(&s.WrongAccount, "The state belongs to another account", reason+", "+s.Backend.Account+".",
		"Nothing was read, changed or dropped from the state.",
		s.Backend.Other,
		fmt.Sprintf("If the account %s of the state no longer exists, remove its objects from the state with terraform state rm, or start with a new state.", expected.ID)))
	return false
}

// checkAccess adds an error and returns false if the account can't be used, because a plan that
// only creates refreshes nothing, and would leave that to the apply.
func (m *managed[T, M]) checkAccess(ctx context.Context, diags *diag.Diagnostics) bool {
	s := m.Session
	c := m.ClientForPlan(ctx, diags)
	if c == nil || s.HasRefreshed() {
		return !diags.HasError()
	}
	_, err := m.Caller(ctx, c)
	if err == nil || !m.Walk().MayReport() {
		return true
	}
	summary := "Can't use the account " + c.AccountID()
	if client.IncidentOf(err) != nil || client.StatusOf(err) != http.StatusForbidden {
		report.Error(diags, err, summary, nil)
		return false
	}
	diags.Append(report.ConnectionError(&s.NoAccess, summary, report.Sentence(err.Error()),
		fmt.Sprintf("The credential has no access to the account %s at all. Check that account_id, or MAILHOST_ACCOUNT_ID, is the credential's account; otherwise ask the account's owner for a credential.", c.AccountID())))
	return false
}

// mismatch describes how the account differs from the one in a state, or returns "".
func (a account) mismatch(expected account) string {
	switch {
	case !strings.EqualFold(expected.ID, a.ID):
		return fmt.Sprintf("According to the state the object is in the account %s, but the provider is connected to the account %s", expected.ID, a.ID)
	case expected.CreatedAt != "" && a.CreatedAt != "" && expected.CreatedAt != a.CreatedAt:
		return fmt.Sprintf("According to the state the object is in the account %s that was created at %s, but the provider is connected to one with the same id that was created at %s", expected.ID, expected.CreatedAt, a.CreatedAt)
	}
	return ""
}

// keepAccount stores the connection's account in the private state.
func (m *managed[T, M]) keepAccount(ctx context.Context, private PrivateState, diags *diag.Diagnostics) {
	if own, ok := accountOfSession(ctx, m.Session); ok {
		diags.Append(SetPrivate(ctx, private, accountKey, own)...)
	}
}
