package service

import (
	"bytes"
	"context"
	"encoding/json"
	"hash/maphash"
	"maps"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/vmihailenco/msgpack/v5"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/session"
)

// Shortcut handles the calls for one resource type that most resources of a large plan
// need, without the framework, which converts each value several times, by reflection, and
// takes ten times as long. Each method returns nil, or false, if the call needs the
// framework: an object that has changed, a value that is invalid, a message for the user.
// Otherwise the response is the framework's.
//
// A kind of object has shortcuts if its definition sets Unchanged. It is safe for
// concurrent use.
type Shortcut struct {
	resource   *managed
	kind       shortcutKind
	schema     schema.Schema
	objectType tftypes.Type
}

// shortcutKind is what a shortcut needs of [Resource].
type shortcutKind interface {
	hasShortcuts() bool
	fetch(ctx context.Context, c *client.Client, id string) (object any, fetched context.Context)
	isUnchanged(state map[string]any, object any) bool
	naturalKeyOf(value string) string
	keyName() string
}

// NewShortcut returns the shortcut of a resource of [Manage] for a session, or nil if
// its kind of object has none.
func NewShortcut(ctx context.Context, r resource.Resource, s *session.Session) (typeName string, shortcut *Shortcut) {
	m, ok := r.(*managed)
	if !ok {
		return "", nil
	}
	kind, ok := m.Managed.(shortcutKind)
	if !ok || !kind.hasShortcuts() {
		return m.typeName(), nil
	}
	m.base().session = s
	var described resource.SchemaResponse
	m.Schema(ctx, resource.SchemaRequest{}, &described)
	return m.typeName(), &Shortcut{m, kind, described.Schema, described.Schema.Type().TerraformType(ctx)}
}

// Read returns the response for an object that has not changed. Otherwise the framework
// must be called with the returned context, which has the object that was read.
func (s *Shortcut) Read(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, context.Context) {
	var state map[string]any
	if req.CurrentState == nil || msgpack.Unmarshal(req.CurrentState.MsgPack, &state) != nil {
		return nil, ctx
	}
	id, _ := state["id"].(string)
	own, ok := s.account(ctx)
	if id == "" || !ok {
		return nil, ctx
	}
	identity := own.identity(id)
	workspaceID, _ := state["workspace_id"].(string)
	private, ok := own.kept(req.Private, workspaceID)
	if !ok || !isIdentity(req.CurrentIdentity, identity) {
		return nil, ctx
	}
	domain, _ := state["domain_id"].(string)
	object, fetched := s.kind.fetch(s.resource.base().session.ForRefresh(ctx, domain), own.client, id)
	if object == nil || !s.kind.isUnchanged(state, object) {
		return nil, fetched
	}
	resp := &tfprotov6.ReadResourceResponse{
		NewState: req.CurrentState, Private: private,
		NewIdentity: &tfprotov6.ResourceIdentityData{IdentityData: &tfprotov6.DynamicValue{MsgPack: identity}},
	}
	key, _ := state[s.kind.keyName()].(string)
	if conflict := s.resource.base().Walk().Refreshed(s.object(id, key)); conflict != session.NoConflict {
		resp.Diagnostics = s.conflict(ctx, req.CurrentState, id, conflict)
	}
	return resp, ctx
}

// Plan returns the response for an object that keeps the prior state as it is, and for
// one that is created.
func (s *Shortcut) Plan(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) *tfprotov6.PlanResourceChangeResponse {
	if req.PriorState == nil || req.ProposedNewState == nil || len(req.ProposedNewState.MsgPack) == 0 || IsNull(req.ProposedNewState.MsgPack) {
		return nil
	}
	if IsNull(req.PriorState.MsgPack) {
		return s.planCreate(ctx, req)
	}
	if !bytes.Equal(req.PriorState.MsgPack, req.ProposedNewState.MsgPack) {
		return nil
	}
	prior, ok := split(req.PriorState.MsgPack)
	own, isOpen := s.account(ctx)
	private, isPrivate := privateOf(req.PriorPrivate)
	id := prior.text("id")
	if !ok || !isOpen || !isPrivate || id == "" || !own.has(private, prior) || !isIdentity(req.PriorIdentity, own.identity(id)) {
		return nil
	}
	config := fingerprintOf(ctx, nil)
	if config == 0 {
		return nil
	}
	resp := &tfprotov6.PlanResourceChangeResponse{PlannedState: req.ProposedNewState, PlannedIdentity: plannedIdentity(req.PriorIdentity)}
	private = maps.Clone(private)
	private[firstPlanKey] = mustJSON(firstPlan{ID: id, Config: config})
	resp.PlannedPrivate = mustJSON(private)
	switch conflict := s.resource.base().Walk().PlanUpdate(s.object(id, prior.text(s.kind.keyName())), config); conflict {
	case session.NoConflict:
	case session.Kept:
		var diags diag.Diagnostics
		warnShared(&diags, s.label(ctx, req.PriorState), id)
		resp.Diagnostics = protocolDiagnostics(diags)
	default:
		resp.Diagnostics = s.conflict(ctx, req.PriorState, id, conflict)
	}
	return resp
}

// planCreate plans a new object: the computed attributes are unknown. A value that is
// unknown or nested may contain more to plan.
func (s *Shortcut) planCreate(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) *tfprotov6.PlanResourceChangeResponse {
	proposed, ok := split(req.ProposedNewState.MsgPack)
	if !ok || len(req.PriorPrivate) > 0 || req.PriorIdentity != nil {
		return nil
	}
	var planned bytes.Buffer
	enc := msgpack.NewEncoder(&planned)
	if enc.EncodeMapLen(len(proposed)) != nil {
		return nil
	}
	for _, f := range proposed {
		a := s.schema.Attributes[f.name]
		switch {
		case a == nil || f.kind() == other:
			return nil
		case f.kind() == null && a.IsComputed():
			f.raw = unknown
		}
		if enc.EncodeString(f.name) != nil || enc.Encode(f.raw) != nil {
			return nil
		}
	}
	if d := s.resource.base().domainLookup(ctx, proposed.text("domain")); d != nil && d.isMissing && !d.isReported.Load() {
		return nil // the framework warns
	}
	resp := &tfprotov6.PlanResourceChangeResponse{PlannedState: &tfprotov6.DynamicValue{MsgPack: planned.Bytes()}, PlannedIdentity: plannedIdentity(nil)}
	if conflict := s.resource.base().Walk().PlanCreate(s.object("", proposed.text(s.kind.keyName()))); conflict != session.NoConflict {
		resp.Diagnostics = s.conflict(ctx, resp.PlannedState, "", conflict)
	}
	return resp
}

// object identifies an object in the walk.
func (s *Shortcut) object(id, key string) session.Object {
	if key != "" {
		key = s.kind.naturalKeyOf(key)
	}
	return session.Object{Type: s.resource.typeName(), ID: id, Key: key}
}

// conflict returns the error of a conflict about the object of a state.
func (s *Shortcut) conflict(ctx context.Context, state *tfprotov6.DynamicValue, id string, conflict session.Conflict) []*tfprotov6.Diagnostic {
	var diags diag.Diagnostics
	AddConflict(&diags, s.label(ctx, state), id, conflict)
	return protocolDiagnostics(diags)
}

// label names the object of a state in messages.
func (s *Shortcut) label(ctx context.Context, state *tfprotov6.DynamicValue) string {
	raw, err := state.Unmarshal(s.objectType)
	if err != nil {
		raw = tftypes.NewValue(s.objectType, nil)
	}
	return s.resource.label(ctx, tfsdk.State{Raw: raw, Schema: s.schema}.Get)
}

// protocolDiagnostics converts diagnostics that have no attribute.
func protocolDiagnostics(diags diag.Diagnostics) (all []*tfprotov6.Diagnostic) {
	for _, d := range diags {
		severity := tfprotov6.DiagnosticSeverityWarning
		if d.Severity() == diag.SeverityError {
			severity = tfprotov6.DiagnosticSeverityError
		}
		all = append(all, &tfprotov6.Diagnostic{Severity: severity, Summary: d.Summary(), Detail: d.Detail()})
	}
	return all
}

// openAccount is the account of the session.
type openAccount struct {
	account
	session *session.Session
	client  *client.Client
	value   []byte // in the private state
}

// account returns the account of the session, or false if it can't be opened.
func (s *Shortcut) account(ctx context.Context) (a openAccount, ok bool) {
	own := s.resource.base().session
	c, err := own.Client(ctx)
	if err != nil {
		return a, false
	}
	id, ok := accountOfSession(ctx, own)
	return openAccount{id, own, c, mustJSON(id)}, ok
}

// has reports whether the private state or the attributes of a state have the account.
func (a openAccount) has(private map[string][]byte, state fields) bool {
	if value := private[accountKey]; value != nil {
		return bytes.Equal(value, a.value)
	}
	return a.isProvenBy(state.text("workspace_id"), a.session)
}

// kept returns the private state after a read that changes nothing else. It returns false
// if the private state or attributes that the object had before do not have the account.
func (a openAccount) kept(data []byte, workspaceID string) (_ []byte, ok bool) {
	private, ok := privateOf(data)
	value, isKept := private[accountKey]
	switch isProven := a.isProvenBy(workspaceID, a.session); {
	case !ok || isKept && !bytes.Equal(value, a.value) || !isKept && !isProven:
		return nil, false
	case isKept && isProven && len(private) == 1:
		return nil, true
	case isKept && isProven:
		delete(private, accountKey)
		return mustJSON(private), true
	}
	return data, true
}

// identity returns the encoded identity of an object of the account.
func (a openAccount) identity(id string) []byte {
	if own, ok := canonicalUUID(id); ok {
		id = own
	}
	var b bytes.Buffer
	enc := msgpack.NewEncoder(&b)
	_ = enc.EncodeMapLen(2) // a bytes.Buffer returns no errors
	for _, s := range []string{"account_id", a.client.AccountID(), "id", id} {
		_ = enc.EncodeString(s)
	}
	return b.Bytes()
}

// isIdentity reports whether a request has no identity, or this one.
func isIdentity(have *tfprotov6.ResourceIdentityData, want []byte) bool {
	return have == nil || have.IdentityData != nil && bytes.Equal(have.IdentityData.MsgPack, want)
}

// plannedIdentity returns the prior identity, or null.
func plannedIdentity(prior *tfprotov6.ResourceIdentityData) *tfprotov6.ResourceIdentityData {
	if prior != nil {
		return prior
	}
	return &tfprotov6.ResourceIdentityData{IdentityData: &tfprotov6.DynamicValue{MsgPack: []byte{nilCode}}}
}

// privateOf decodes private state, which may be empty. It returns false if the framework has data of its own
// in it.
func privateOf(data []byte) (private map[string][]byte, ok bool) {
	if len(data) == 0 {
		return map[string][]byte{}, true
	}
	if json.Unmarshal(data, &private) != nil {
		return nil, false
	}
	for key := range private {
		if strings.HasPrefix(key, ".") {
			return nil, false
		}
	}
	return private, true
}

func mustJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic("service: " + err.Error())
	}
	return data
}

type fingerprintKey struct{}

// WithFingerprint returns a context with the fingerprint of the configuration in a call.
// The shortcut and the framework must use the same one, because they plan for one walk.
func WithFingerprint(ctx context.Context, config *tfprotov6.DynamicValue) context.Context {
	if config == nil || len(config.MsgPack) == 0 {
		return ctx
	}
	return context.WithValue(ctx, fingerprintKey{}, maphash.Bytes(seed, config.MsgPack))
}
