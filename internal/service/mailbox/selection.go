package mailbox

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

// selection says which mailboxes an export has.
type selection struct {
	Domain    types.String `tfsdk:"domain"`
	Mailboxes types.List   `tfsdk:"mailboxes"`
}

const (
	selectedDomainDescription = "Only the mailboxes of this domain, by name or UUID."

	selectedMailboxesDescription = "Only these mailboxes, by address or UUID; an empty list selects none. With `domain`, all of them must be in that domain. " +
		"Without `domain` and `mailboxes`, all mailboxes of the account are exported."
)

func selectedDomain() []validator.String {
	return []validator.String{customtype.DomainRefType{}.Validator()}
}

func selectedMailboxes() []validator.List {
	return []validator.List{
		listvalidator.NoNullValues(),
		listvalidator.ValueStringsAre(validate.Rule("a mailbox's UUID or its address such as jane@example.com", normalizeRef)),
	}
}

// normalizeRef has no doubt which of the two s is: an address has an @.
func normalizeRef(s string) (string, error) {
	if id, err := customtype.Normalize[customtype.UUID](s); err == nil {
		return id, nil
	}
	address, err := customtype.Normalize[customtype.EmailAddress](s)
	if err != nil {
		return "", fmt.Errorf("it is no UUID, and as an address: %w", err)
	}
	return address, nil
}

// request returns the body of the export. Mailboxes that are not given are all of
// them, and an empty list of them is none.
func (s selection) request(ctx context.Context) (api.ExportMailboxesBody, diag.Diagnostics) {
	body := api.ExportMailboxesBody{Domain: s.Domain.ValueStringPointer()}
	return body, s.Mailboxes.ElementsAs(ctx, &body.Mailboxes, false)
}

// addExportError tells why there is no export, at the mailbox or the domain that
// it lies at.
func addExportError(diags *diag.Diagnostics, err error) {
	service.AddError(diags, err, "Can't export the mailboxes", service.Fields{})
}

// addBrokenOff tells that an export has begun and not come to its end.
func addBrokenOff(diags *diag.Diagnostics, err error) {
	diags.AddError("Can't export the mailboxes", fmt.Sprintf("The API's answer broke off: %s. What had come of it was thrown away. Try again.", err))
}
