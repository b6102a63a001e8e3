package mailbox

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
	"github.com/mailhost/terraform-provider-mailhost/internal/validate"
)

type selection struct {
	Domain    types.String `tfsdk:"domain"`
	Mailboxes types.List   `tfsdk:"mailboxes"`
}

const (
	selectedDomainDescription = "Only the mailboxes of this domain, by name or UUID."

	selectedMailboxesDescription = "Only these mailboxes, by address or UUID; an empty list selects none. With `domain`, all of them must be in that domain. " +
		"Without `domain` and `mailboxes`, all mailboxes of the account are exported."
)

var (
	selectedDomain    = []validator.String{customtype.DomainRef.Validator()}
	selectedMailboxes = []validator.List{
		listvalidator.NoNullValues(),
		listvalidator.ValueStringsAre(validate.Rule("a mailbox's UUID or its address such as jane@example.com", normalizeRef)),
	}
)

// normalizeRef returns the canonical form of a UUID or an address.
func normalizeRef(s string) (string, error) {
	if id, err := customtype.UUID.Normalize(s); err == nil {
		return id, nil
	}
	address, err := customtype.EmailAddress.Normalize(s)
	if err != nil {
		return "", fmt.Errorf("it is no UUID, and as an address: %w", err)
	}
	return address, nil
}

// expand returns the body of the export. A null list of mailboxes selects all, an empty list
// none.
func (s selection) expand(ctx context.Context) (api.ExportMailboxesBody, diag.Diagnostics) {
	body := api.ExportMailboxesBody{Domain: s.Domain.ValueStringPointer()}
	return body, s.Mailboxes.ElementsAs(ctx, &body.Mailboxes, false)
}

// addExportError reports why the export failed, at the mailbox or the domain that caused it.
func addExportError(diags *diag.Diagnostics, err error) {
	report.Error(diags, err, "Can't export the mailboxes", report.Fields{})
}

func addIncomplete(diags *diag.Diagnostics, err error) {
	diags.AddError("Can't export the mailboxes", fmt.Sprintf("The API's response is incomplete: %s. The received part was discarded. Run the command again.", err))
}

// rowCounter is a writer that counts the rows of an export: no field contains a line break.
type rowCounter int

func (c *rowCounter) Write(p []byte) (int, error) {
	*c += rowCounter(bytes.Count(p, []byte("\n")))
	return len(p), nil
}

// mailboxes returns the number of rows without the header.
func (c rowCounter) mailboxes() int { return max(int(c)-1, 0) }

// maxExport limits the size of the CSV text in memory and in the state: about 50,000 mailboxes.
const maxExport = 8 << 20

type exportModel struct {
	selection

	CSV types.String `tfsdk:"csv"`
}

func NewExport() datasource.DataSource {
	return service.NewDataSource("mailbox_export", schema.Schema{
		MarkdownDescription: "Mailboxes as CSV text, as the API exports them: for `csvdecode`, or for a file that is part of the configuration. " +
			"The whole text is in memory and in the state, with names and addresses, and is limited to " + maxExportText() + ", which is about 50,000 mailboxes. " +
			"To export more, or to keep them out of the state, write them to a file with the action `mailhost_export_mailboxes`.",
		Attributes: map[string]schema.Attribute{
			"domain":    schema.StringAttribute{Optional: true, Validators: selectedDomain, MarkdownDescription: selectedDomainDescription},
			"mailboxes": schema.ListAttribute{Optional: true, ElementType: types.StringType, Validators: selectedMailboxes, MarkdownDescription: selectedMailboxesDescription},
			"csv": schema.StringAttribute{
				Computed: true,
				MarkdownDescription: "The CSV text (RFC 4180), with a header. The bundled server's columns are id, primary_email, first_name, last_name, domain_name, status, quota_allowed, quota_used, workspace_name and created_at; " +
					"text that a spreadsheet would run as a formula, at the start of a cell or after a separator such as `;` in it, is prefixed with an apostrophe.",
			},
		},
	}, readExport)
}

func readExport(ctx context.Context, c *client.Client, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var m exportModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	body, diags := m.expand(ctx)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	csv, err := c.ExportMailboxes(ctx, body)
	if err != nil {
		addExportError(&resp.Diagnostics, err)
		return
	}
	defer csv.Close()
	text, err := io.ReadAll(io.LimitReader(csv, maxExport+1))
	switch {
	case err != nil:
		addIncomplete(&resp.Diagnostics, err)
		return
	case len(text) > maxExport:
		resp.Diagnostics.AddError("The export is too large for a data source",
			fmt.Sprintf("It has more than %s, which would be in memory and in the state. Select fewer mailboxes by domain or mailboxes, or write them to a file with the action mailhost_export_mailboxes.", maxExportText()))
		return
	}
	m.CSV = types.StringValue(string(text))
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

func maxExportText() string { return fmt.Sprintf("%d MiB", maxExport>>20) }
