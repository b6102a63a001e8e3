package mailbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
	"github.com/mailhost/terraform-provider-mailhost/internal/service/report"
)

type exportConfig struct {
	selection

	Path      types.String `tfsdk:"path"`
	Overwrite types.Bool   `tfsdk:"overwrite"`
}

func NewExportAction() action.Action {
	return &service.Action[exportConfig]{
		Name: "export_mailboxes",
		Definition: schema.Schema{
			MarkdownDescription: "Writes mailboxes to a CSV file, as the API exports them. Unlike `data.mailhost_mailbox_export` it does not hold them in memory or in the state, so that it works for an account of any size. " +
				"The file is replaced when the export is complete: if it fails, an existing file does not change.",
			Attributes: map[string]schema.Attribute{
				"domain":    schema.StringAttribute{Optional: true, Validators: selectedDomain, MarkdownDescription: selectedDomainDescription},
				"mailboxes": schema.ListAttribute{Optional: true, ElementType: types.StringType, Validators: selectedMailboxes, MarkdownDescription: selectedMailboxesDescription},
				"path": schema.StringAttribute{
					Required: true, Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
					MarkdownDescription: "The file to write, for instance `\"${path.root}/mailboxes.csv\"`; a relative path begins at the working directory. Its directory must exist when the action runs; the plan warns if it does not. " +
						"The file contains names and addresses: only the user who runs Terraform can read it (mode 0600). Do not commit it to version control.",
				},
				"overwrite": schema.BoolAttribute{
					Optional:            true,
					MarkdownDescription: "Whether an existing file is replaced. Default: `true`. With `false` the action fails if the file exists; if it exists at plan time, the plan fails.",
				},
			},
		},
		Plan: planExport,
		Run:  runExport,
	}
}

// planExport checks, as far as possible before the apply, that the file can be written.
func planExport(_ context.Context, config exportConfig, diags *diag.Diagnostics) {
	if config.Path.IsUnknown() || config.Overwrite.IsUnknown() {
		return
	}
	target := config.Path.ValueString()
	if err := checkTarget(target, config.overwrites()); err != nil {
		addFileError(diags, target, err)
		return
	}
	dir := filepath.Dir(target)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		diags.AddAttributeWarning(path.Root("path"), "The directory "+dir+" of the export does not exist",
			"The export does not create it: the action will fail unless the apply creates the directory before. Create the directory, or choose another path.")
	}
}

func runExport(ctx context.Context, c *client.Client, config exportConfig, resp *action.InvokeResponse) {
	body, diags := config.expand(ctx)
	if resp.Diagnostics.Append(diags...); diags.HasError() {
		return
	}
	target := config.Path.ValueString()
	temporary, err := newFile(target, config.overwrites())
	if err != nil {
		addFileError(&resp.Diagnostics, target, err)
		return
	}
	defer os.Remove(temporary.Name())
	defer temporary.Close()
	csv, err := c.ExportMailboxes(ctx, body)
	if err != nil {
		addExportError(&resp.Diagnostics, err)
		return
	}
	defer csv.Close()
	var rows rowCounter
	size, err := io.Copy(io.MultiWriter(temporary, &rows), csv)
	if err == nil {
		err = rename(temporary, target, config.overwrites())
	}
	switch {
	case fileCause(err) != nil:
		addFileError(&resp.Diagnostics, target, err)
	case err != nil:
		addIncomplete(&resp.Diagnostics, err)
	default:
		n := rows.mailboxes()
		service.Progress(resp, "Wrote %d %s to %s (%d bytes).", n, report.Plural(n, "mailbox", "mailboxes"), target, size)
	}
}

func (c exportConfig) overwrites() bool { return c.Overwrite.IsNull() || c.Overwrite.ValueBool() }

var errIsDirectory = errors.New("it is a directory")

// checkTarget checks, as far as possible before the write, that a file can be written.
func checkTarget(path string, overwrite bool) error {
	info, err := os.Stat(path)
	switch {
	case err != nil: // there is no file, or newFile reports the error
		return nil //nolint:nilerr // see above
	case info.IsDir():
		return &fs.PathError{Path: path, Err: errIsDirectory}
	case !overwrite:
		return &fs.PathError{Path: path, Err: fs.ErrExist}
	}
	return nil
}

// newFile creates a temporary file for the export, in the directory of path. Only the user can read it.
func newFile(path string, overwrite bool) (*os.File, error) {
	if err := checkTarget(path, overwrite); err != nil {
		return nil, err
	}
	return os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
}

// rename completes a temporary file and renames it to path.
func rename(temporary *os.File, path string, overwrite bool) error {
	if err := cmp.Or(temporary.Sync(), temporary.Close(), checkTarget(path, overwrite)); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}

// fileCause returns the cause of a file system error without the path, or nil for another error.
func fileCause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return nil
}

func addFileError(diags *diag.Diagnostics, target string, err error) {
	next := "Check that its directory exists and that you may write there, or choose another path."
	switch {
	case errors.Is(err, fs.ErrExist):
		next = "Remove it, choose another path, or set overwrite to true."
	case errors.Is(err, errIsDirectory):
		next = "Choose a file in it."
	}
	diags.AddAttributeError(path.Root("path"), "Can't write the file of the export", fmt.Sprintf("%s can't be written: %s. %s", target, fileCause(err), next))
}
