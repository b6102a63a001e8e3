package domain

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

// contact is the attribute contact_info; each of its attributes is required.
type contact struct {
	Address1     string `tfsdk:"address_1"`
	City         string `tfsdk:"city"`
	Country      string `tfsdk:"country"`
	Email        string `tfsdk:"email"`
	FirstName    string `tfsdk:"first_name"`
	LastName     string `tfsdk:"last_name"`
	Organization string `tfsdk:"organization"`
	Phone        string `tfsdk:"phone"`
	State        string `tfsdk:"state"`
	Zip          string `tfsdk:"zip"`
}

// expandContact returns contact_info for a request.
func expandContact(ctx context.Context, o types.Object, diags *diag.Diagnostics) api.ContactInfo {
	var c contact
	diags.Append(o.As(ctx, &c, basetypes.ObjectAsOptions{})...)
	if code, err := api.CheckCountry(c.Country); err == nil {
		c.Country = code
	}
	return api.ContactInfo(c)
}

// contactAttribute returns the schema of contact_info.
//
// The street, the e-mail address and the phone number are sensitive, so that they are
// not in plans, which end up in CI logs and pull requests. The names and the place are
// not, because the reviewer of a purchase has to see who will own the domain. The state
// contains all of them, as it does all values.
func contactAttribute() schema.Attribute {
	text := func(name, description string) schema.StringAttribute {
		return schema.StringAttribute{
			Required:            true,
			Validators:          []validator.String{validate.Length[api.ContactInfo](name)},
			MarkdownDescription: description,
		}
	}
	private := func(a schema.StringAttribute, rule validator.String) schema.StringAttribute {
		a.Sensitive = true
		if rule != nil {
			a.Validators = append(a.Validators, rule)
		}
		return a
	}
	return schema.SingleNestedAttribute{
		Optional: true,
		MarkdownDescription: "Registrant of the domain, required only to buy it, not for a domain that the account owns already. " +
			"It is sent with the purchase only, and the API does not return it: a later change is stored in the state and changes nothing at the registrar. An import leaves it null, and the next apply stores it.",
		Attributes: map[string]schema.Attribute{
			"first_name":   text("first_name", "First name."),
			"last_name":    text("last_name", "Last name."),
			"organization": text("organization", "Company or other organization."),
			"email":        private(text("email", "E-mail address. The registry may write to it."), customtype.EmailAddress.Validator()),
			"phone":        private(text("phone", "Phone number with its country code (E.164), such as `+4930123456`."), validate.Phone()),
			"address_1":    private(text("address_1", "Street and number."), nil),
			"zip":          text("zip", "Postal code."),
			"city":         text("city", "City."),
			"state":        text("state", "State, province or region."),
			"country": schema.StringAttribute{
				Required:            true,
				Validators:          []validator.String{validate.Country()},
				MarkdownDescription: "Two-letter country code (ISO 3166), such as `DE`.",
			},
		},
	}
}
