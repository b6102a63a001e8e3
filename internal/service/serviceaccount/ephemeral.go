package serviceaccount

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

const (
	defaultTokenName = "terraform-ephemeral"
	defaultLifetime  = "1h"
	minLifetime      = time.Minute
	maxLifetime      = 24 * time.Hour
	// revokeTimeout limits a revocation, which an interrupt of the run does not stop.
	revokeTimeout = 30 * time.Second
)

// Token is the ephemeral resource mailhost_service_account_token: Open creates a service
// account, and Close revokes it.
type Token struct {
	service.Ephemeral
}

var (
	_ ephemeral.EphemeralResourceWithClose     = (*Token)(nil)
	_ ephemeral.EphemeralResourceWithConfigure = (*Token)(nil)
)

func NewEphemeralResource() ephemeral.EphemeralResource { return &Token{} }

type tokenModel struct {
	Name        types.String `tfsdk:"name"`
	Lifetime    types.String `tfsdk:"lifetime"`
	Permissions types.Set    `tfsdk:"permissions"`
	ID          types.String `tfsdk:"id"`
	Token       types.String `tfsdk:"token"`
	ExpiresAt   types.String `tfsdk:"expires_at"`
}

// openedKey is the key of opened in the private data.
const openedKey = "service_account"

// opened identifies the service account of an open token.
type opened struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	ExpiresAt string `json:"expires_at"`
}

func (o opened) String() string { return fmt.Sprintf("service account %q", o.Name) }

func (t *Token) Metadata(_ context.Context, req ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_service_account_token"
}

const tokenDescription = `A bearer token for the account's API that is valid for one run and stored in neither state nor plan: for instance for a second provider configuration, or for a write-only attribute of another provider.

It belongs to a service account of its own, which is created when Terraform opens the token and revoked when Terraform closes it, at the end of the run. It has the permissions of the provider's own credential, or those of ` + "`permissions`" + `, never more.

* **Terraform opens it in each plan and again in each apply**, so each of them creates a service account and revokes it. The revoked ones stay in the account's list, with a ` + "`revoked_at`" + `.
* The token stops working after its ` + "`lifetime`" + ` in any case: set a longer one than the run takes. A run that fails or is interrupted revokes it too. A run that is killed, or loses its connection to the API, leaves a token for at most that time.
* A revocation that fails is an error at the end of the run, with the time when the token expires; the changes of the run stay applied. The provider's credential needs the capabilities ` + "`service_account.create` and `service_account.revoke`" + `.
* An API with the published operations only can't revoke it. There the token works until its ` + "`lifetime`" + ` is over, with a warning at the end of each run: keep it short.
* Open it with a provider configuration whose own credential is permanent. If that credential comes from another ` + "`mailhost_service_account_token`" + `, the CLI may close the two in any order, and the inner one can no longer be revoked.
* It requires Terraform 1.10 or OpenTofu 1.11.`

func (t *Token) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: tokenDescription,
		Attributes: map[string]schema.Attribute{
			"name": schema.StringAttribute{
				Optional: true, Computed: true,
				Validators:          []validator.String{validate.Length[api.CreateServiceAccountBody]("name")},
				MarkdownDescription: "Name of the service account in the account's list, " + nameLength() + ". Default: `" + defaultTokenName + "`.",
			},
			"lifetime": schema.StringAttribute{
				Optional: true, Computed: true,
				Validators:          []validator.String{validate.Duration(minLifetime, maxLifetime)},
				MarkdownDescription: "How long the token works at most, such as `15m`: from one minute to 24 hours. Default: `" + defaultLifetime + "`.",
			},
			"permissions": schema.SetNestedAttribute{
				Optional:            true,
				MarkdownDescription: permissionsDescription + " Granting them takes `authorization.view` and `authorization.manage`.",
				NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
					"capability_key": schema.StringAttribute{Optional: true, MarkdownDescription: capabilityDescription},
					"resource_type": schema.StringAttribute{
						Optional:            true,
						Validators:          []validator.String{validate.OneOf[api.GrantAuthorizationBody]("resource_type")},
						MarkdownDescription: resourceTypeDescription,
					},
					"resource_id": schema.StringAttribute{Optional: true, CustomType: customtype.UUID, MarkdownDescription: resourceIDDescription},
				}},
			},
			"id":         schema.StringAttribute{Computed: true, MarkdownDescription: "UUID of the service account."},
			"token":      schema.StringAttribute{Computed: true, Sensitive: true, MarkdownDescription: "The bearer token."},
			"expires_at": schema.StringAttribute{Computed: true, MarkdownDescription: "When the token expires unless it is revoked before (RFC 3339)."},
		},
	}
}

func (t *Token) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	var m tokenModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	c := t.Client(ctx, &resp.Diagnostics)
	checkPermissions(ctx, m.Permissions, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	if m.Name.IsNull() {
		m.Name = types.StringValue(defaultTokenName)
	}
	if m.Lifetime.IsNull() {
		m.Lifetime = types.StringValue(defaultLifetime)
	}
	lifetime, _ := duration(m.Lifetime)
	o := opened{Name: m.Name.ValueString(), ExpiresAt: serverNow(ctx, c).Add(lifetime).UTC().Format(api.TimestampLayout)}
	if !m.Permissions.IsNull() {
		if caller, err := t.Caller(ctx, c); caller == nil && err == nil {
			addNoGrants(&resp.Diagnostics, o.String())
			return
		}
	}
	created, err := c.CreateServiceAccount(ctx, api.CreateServiceAccountBody{Name: o.Name, ExpiresAt: &o.ExpiresAt})
	if err != nil {
		o.addOpenError(ctx, c, &resp.Diagnostics, err)
		return
	}
	o.ID = created.ID
	if !m.Permissions.IsNull() {
		if err := restrict(ctx, c, o.ID, m.Permissions, true); err != nil {
			report.ErrorWithAdvice(&resp.Diagnostics, err, fmt.Sprintf("Can't restrict the %s to its permissions", o), permissionFields, o.discarded(revoke(ctx, c, o.ID)))
			return
		}
	}
	m.ID, m.Token, m.ExpiresAt = types.StringValue(o.ID), types.StringValue(created.Token), types.StringValue(o.ExpiresAt)
	resp.Diagnostics.Append(service.SetPrivate(ctx, resp.Private, openedKey, o)...)
	resp.Diagnostics.Append(resp.Result.Set(ctx, &m)...)
	t.AddCleanup(o.ID, func(ctx context.Context) error { return o.cleanUp(ctx, c) })
}

// discarded describes the outcome of revoking a service account after a failed Open. err is the
// error of the revocation.
func (o opened) discarded(err error) string {
	if err != nil {
		return fmt.Sprintf("The service account %s was created, and can't be revoked: %s. Nobody has its token, which expires at %s.", o.ID, err, o.ExpiresAt)
	}
	return "The service account was revoked again."
}

// cleanUp revokes the service account when the provider ends without a Close: Terraform closes
// nothing after a failed or interrupted run.
func (o opened) cleanUp(ctx context.Context, c *client.Client) error {
	err := c.ServiceAccounts.Delete(ctx, o.ID)
	if err == nil || client.IsNotFound(err) || errors.Is(err, client.ErrDeleteUnsupported) {
		return nil
	}
	return fmt.Errorf("can't revoke the %s, %s, whose token works until %s: %w", o, o.ID, o.ExpiresAt, err)
}

// addOpenError reports why no token could be created. It revokes a service account that was
// created without a response, and reports the outcome.
func (o opened) addOpenError(ctx context.Context, c *client.Client, diags *diag.Diagnostics, err error) {
	summary := "Can't create the " + o.String()
	fields := report.Fields{"expires_at": "lifetime"}
	_, isUnknown := errors.AsType[*client.UnknownOutcomeError](err)
	lost, isLost := errors.AsType[*client.SecretLostError](err)
	switch {
	case isUnknown:
		report.ErrorWithAdvice(diags, err, summary, fields, fmt.Sprintf("If a service account was created, its token expires at %s.", o.ExpiresAt))
	case isLost:
		reason := "The API's response was lost, and with it the token, which the API returns only once."
		if lost.Cause != nil {
			reason += fmt.Sprintf(" (%s)", lost.Cause)
		}
		diags.AddError(summary, reason+"\n\n"+o.revokeLost(ctx, c, lost.IDs)+"Run the command again.")
	default:
		addCreateError(diags, err, summary, fields)
	}
}

// revokeLost revokes the service accounts among ids that lost responses left without a known token,
// and describes the outcome. It recognises them by their expiry, because other service accounts with
// the same name may be in use.
func (o opened) revokeLost(ctx context.Context, c *client.Client, ids []string) (outcome string) {
	// An interrupt loses responses, so it must not stop the revocation.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), revokeTimeout)
	defer cancel()
	for _, id := range ids {
		a, err := c.ServiceAccounts.Get(ctx, id)
		if err == nil && (a.RevokedAt != nil || a.ExpiresAt == nil || !customtype.Timestamp.Same(*a.ExpiresAt, o.ExpiresAt)) {
			continue
		}
		if err == nil {
			err = revoke(ctx, c, id)
		}
		if err == nil {
			outcome += fmt.Sprintf("The service account %s has been revoked. ", id)
		} else {
			outcome += fmt.Sprintf("The service account %s was probably created by an attempt whose response was lost, and can't be revoked: %s. Its token was lost, and expires at %s. ", id, err, o.ExpiresAt)
		}
	}
	return outcome
}

func (t *Token) Close(ctx context.Context, req ephemeral.CloseRequest, resp *ephemeral.CloseResponse) {
	o := service.GetPrivate[opened](ctx, req.Private, openedKey)
	c := t.Client(ctx, &resp.Diagnostics)
	if c == nil {
		return
	}
	if o.ID == "" {
		resp.Diagnostics.AddError("Can't revoke the service account of an ephemeral token",
			"Terraform did not pass its id. Its token expires when its lifetime is over.")
		return
	}
	t.RemoveCleanup(o.ID)
	err := revoke(ctx, c, o.ID)
	ends := fmt.Sprintf("Its token expires at %s. Its id is %s.", o.ExpiresAt, o.ID)
	switch {
	case err == nil, client.IsNotFound(err), past(customtype.New(o.ExpiresAt), serverNow(ctx, c)):
	case errors.Is(err, client.ErrDeleteUnsupported):
		resp.Diagnostics.AddWarning(fmt.Sprintf("The %s is not revoked", o), "This API has no operation that revokes a service account. "+ends)
	default:
		report.ErrorWithAdvice(&resp.Diagnostics, err, "Can't revoke the "+o.String(), nil, ends+" To end it now, revoke it in the service's own control panel.")
	}
}

// revoke revokes a service account, even if the run is interrupted.
func revoke(ctx context.Context, c *client.Client, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), revokeTimeout)
	defer cancel()
	return c.ServiceAccounts.Delete(ctx, id)
}
