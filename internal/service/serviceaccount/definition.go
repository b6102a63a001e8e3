// Package serviceaccount provides the resource mailhost_service_account with its data sources
// and list resource, and the ephemeral resource mailhost_service_account_token.
package serviceaccount

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/attribute"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

var Definition = &service.Definition[api.ServiceAccount, model]{
	Name: "service_account",
	Collection: service.Collection[api.ServiceAccount]{
		Names: "service_accounts", Noun: "service account", Nouns: "service accounts",
		Note:       "They include revoked ones, which have a `revoked_at`. Their tokens are not included.",
		Attributes: attributes,
		List:       service.ListedAll((*client.Client).ListServiceAccounts),
	},
	Objects:             func(c *client.Client) *client.Objects[api.ServiceAccount] { return c.ServiceAccounts },
	Find:                (*client.Client).FindServiceAccount,
	ImportBy:            "the name of one that is not revoked, or by UUID",
	Validate:            validateConfig,
	ResourceDescription: description,
	Settings:            settings,
	PlannedValues: func(_ attribute.Raw, accountID string) map[string]attr.Value {
		return map[string]attr.Value{"account_id": types.StringValue(accountID)}
	},
	ReplacedBy:        []string{"name"},
	Volatile:          []string{"expires_at"}, // see planExpiry
	Losses:            losses,
	DeleteOperation:   api.RevokeServiceAccount.Spec,
	DeleteVerb:        "revoke",
	OrphanConsequence: func(ctx context.Context, c *client.Client, m model) string { return stillWorks(m, serverNow(ctx, c)) },
	Single: service.Single[api.ServiceAccount]{
		Description: "A service account that exists, by its UUID, or by its name among those that are not revoked. The token is not included: the API returns it only when the service account is created.",
		Keys: []attribute.Filter{
			attribute.IDKey("service account", "`name`"),
			attribute.NewFilter("name", "Exact name of the service account. Exactly one that is not revoked must have it. Set it or `id`.",
				validate.Length[api.CreateServiceAccountBody]("name")),
		},
	},
	Listing: service.Listing[api.ServiceAccount, model]{
		Note: "Revoked ones can't be managed and are left out. The token of an imported service account is unknown.",
		Imported: func(ctx context.Context, c *client.Client, m *model) error {
			return m.readPermissions(ctx, c, true)
		},
		Skip: func(a *api.ServiceAccount) bool { return a.RevokedAt != nil },
	},
}

const description = `A machine credential with a bearer token for the account's API. It has the permissions of the credential that creates it, unless ` + "`permissions`" + ` has fewer.

The API returns the token once, in the response to the create. After that, only the state has it: protect the state like the token.

The API can't change a service account beside its permissions: every other argument but ` + "`rotate_before`" + ` replaces it if it changes to another value, with a new token. To keep a valid token at all times, set ` +
	"`lifecycle { create_before_destroy = true }`" + `: the new service account is created before the old one is revoked. Names need not be unique.

* Destroying revokes it: the token stops working at once. The provider's credential needs all permissions of the service account, and the last owner of the account can't be revoked. The plan refuses to destroy or replace the service account whose token the provider itself authenticates with. An API without that operation leaves **a token that still works**; the provider warns about it.
* One that was revoked outside Terraform is dropped from the state with a warning, and the next apply creates a new one.
* One that has expired is replaced by the next apply if ` + "`valid_for`" + ` is set. With a fixed ` + "`expires_at`" + ` it stays in the state, with a warning on each refresh, until another ` + "`expires_at` or `rotation_triggers`" + ` replaces it.
* After an import the token is unknown: ` + "`token`" + ` stays null, and the first value of ` + "`valid_for` and `rotation_triggers`" + ` is stored without replacing anything.

For a token that is valid for one run and not stored in the state, use the ephemeral resource ` + "`mailhost_service_account_token`" + `.`

// The descriptions of permissions, here and in the ephemeral resource.
const (
	permissionsDescription = "What the token may do: a set of capabilities, each of which the provider's credential must have. Without it the service account inherits the permissions of that credential, so that the token of an owner is an owner's. " +
		"The API gives a new service account all of them: the provider revokes what is not listed before it returns the token, and discards the token if that fails. On an API with the published operations only, which can't revoke permissions, setting it is an error."
	capabilityDescription   = "Capability, such as `mailbox.view`. Required."
	resourceTypeDescription = "`workspace` or `domain`, if the capability is restricted to one. Set it with `resource_id`."
	resourceIDDescription   = "UUID of the workspace or domain. Set it with `resource_type`."
)

func attributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"name": attribute.Argument[api.CreateServiceAccountBody]("name", "Name of the service account, "+nameLength()+". Changing it replaces the service account."),
		"expires_at": schema.StringAttribute{
			Optional: true, Computed: true,
			CustomType: customtype.Timestamp,
			MarkdownDescription: "When the token expires (RFC 3339), for instance `2027-01-01T00:00:00Z`; it must be in the future when the service account is created, and not after the provider's own credential expires. " +
				"Without it and `valid_for` the token of a new service account expires with that credential, or never if that never does. Changing it replaces the service account; removing it changes nothing.",
		},
	}
}

func settings() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"valid_for": schema.StringAttribute{
			Optional:      true,
			Validators:    []validator.String{validate.Duration(minValidity, 0)},
			PlanModifiers: []planmodifier.String{attribute.KeepEqual(sameDuration)},
			MarkdownDescription: "How long the token is valid after the creation of the service account, such as `2160h` for 90 days, at least `1m`, in place of a fixed `expires_at`. " +
				"An expired service account is replaced; set `rotate_before` to replace it in time. Changing the duration replaces the service account; removing it keeps the token and its expiry.",
		},
		"rotate_before": schema.StringAttribute{
			Optional:   true,
			Validators: []validator.String{validate.Duration(minValidity, 0)},
			MarkdownDescription: "How long before its expiry the service account is replaced, such as `168h` for a week, at least `1m`: the first plan within that time replaces it with its token. " +
				"Run Terraform more often than that. It requires `valid_for`, and must be shorter. Changing it changes nothing else.",
		},
		"rotation_triggers": schema.MapAttribute{
			Optional:            true,
			ElementType:         types.StringType,
			MarkdownDescription: "Any values; changing one replaces the service account with its token, for instance `{ quarter = \"2027-Q1\" }` or the output of a `time_rotating`. Removing all of them changes nothing.",
		},
		"permissions": schema.SetNestedAttribute{
			Optional: true, Computed: true,
			MarkdownDescription: permissionsDescription +
				" Changing it grants and revokes in place, which takes `authorization.view` and `authorization.manage`; removing it leaves the permissions as they are. `[]` takes all of them away.",
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"capability_key": schema.StringAttribute{Optional: true, MarkdownDescription: capabilityDescription},
				"resource_type":  attribute.Argument[api.GrantAuthorizationBody]("resource_type", resourceTypeDescription),
				"resource_id": schema.StringAttribute{
					Optional:            true,
					CustomType:          customtype.UUID,
					MarkdownDescription: resourceIDDescription,
				},
			}},
		},
		"token": schema.StringAttribute{Computed: true, Sensitive: true, MarkdownDescription: "The bearer token; null after an import."},
	}
}

func nameLength() string {
	return validate.Length[api.CreateServiceAccountBody]("name").Description(context.Background())
}

type model struct {
	ID              types.String      `tfsdk:"id"`
	AccountID       types.String      `tfsdk:"account_id"`
	Name            types.String      `tfsdk:"name"`
	ExpiresAt       customtype.String `tfsdk:"expires_at"`
	TokenLast4      types.String      `tfsdk:"token_last4"`
	TokenPrefix     types.String      `tfsdk:"token_prefix"`
	TokenPublicID   types.String      `tfsdk:"token_public_id"`
	CreatedAt       types.String      `tfsdk:"created_at"`
	UpdatedAt       types.String      `tfsdk:"updated_at"`
	CreatedByUserID types.String      `tfsdk:"created_by_user_id"`
	LastUsedAt      types.String      `tfsdk:"last_used_at"`
	RevokedAt       types.String      `tfsdk:"revoked_at"`
	RevokedByUserID types.String      `tfsdk:"revoked_by_user_id"`
	// The following fields are not part of the API's service account.
	ValidFor         types.String `tfsdk:"valid_for"`
	RotateBefore     types.String `tfsdk:"rotate_before"`
	RotationTriggers types.Map    `tfsdk:"rotation_triggers"`
	Permissions      types.Set    `tfsdk:"permissions"`
	Token            types.String `tfsdk:"token"`
}

func (m model) String() string {
	if m.Name.ValueString() != "" {
		return "service account " + strconv.Quote(m.Name.ValueString())
	}
	return strings.TrimSpace("service account " + m.ID.ValueString()) // name and id of a new one may be unknown
}

// imported reports whether the service account was imported, so that its token is
// unknown: the API returns a token only once.
func (m model) imported() bool { return m.Token.IsNull() }

// past reports whether a time is set, known and not after now.
func past(t customtype.String, now time.Time) bool {
	at, err := time.Parse(time.RFC3339, t.ValueString())
	return err == nil && !at.After(now)
}
