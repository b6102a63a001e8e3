package schemajson

import (
	"context"
	"errors"
	"fmt"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// Address is the provider's, by which a CLI's own document names it.
const Address = "registry.terraform.io/mailhost/mailhost"

// formatVersion is that of the document, as Terraform 1.1 and later write it.
const formatVersion = "1.0"

// Document is what a CLI would write of one provider. name is Address, or the
// short name that another tool looks for.
func Document(name string, p *tfjson.ProviderSchema) *tfjson.ProviderSchemas {
	return &tfjson.ProviderSchemas{FormatVersion: formatVersion, Schemas: map[string]*tfjson.ProviderSchema{name: p}}
}

// Of asks a provider for all of its schemas. The provider need not be
// configured.
func Of(ctx context.Context, server tfprotov6.ProviderServer) (*tfjson.ProviderSchema, error) {
	resp, err := server.GetProviderSchema(ctx, &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		return nil, err
	}
	ids, err := server.GetResourceIdentitySchemas(ctx, &tfprotov6.GetResourceIdentitySchemasRequest{})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(failures(resp.Diagnostics), failures(ids.Diagnostics)); err != nil {
		return nil, err
	}
	return convertProvider(resp, ids)
}

// failures joins the errors of diagnostics.
func failures(diags []*tfprotov6.Diagnostic) error {
	var errs []error
	for _, d := range diags {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			errs = append(errs, fmt.Errorf("%s: %s", d.Summary, d.Detail))
		}
	}
	return errors.Join(errs...)
}

func convertProvider(resp *tfprotov6.GetProviderSchemaResponse, ids *tfprotov6.GetResourceIdentitySchemasResponse) (*tfjson.ProviderSchema, error) {
	var p tfjson.ProviderSchema
	var errs [8]error
	p.ConfigSchema, errs[0] = convertSchema(resp.Provider)
	p.ResourceSchemas, errs[1] = convertAll("resource", resp.ResourceSchemas, convertSchema)
	p.DataSourceSchemas, errs[2] = convertAll("data source", resp.DataSourceSchemas, convertSchema)
	p.EphemeralResourceSchemas, errs[3] = convertAll("ephemeral resource", resp.EphemeralResourceSchemas, convertSchema)
	p.ListResourceSchemas, errs[4] = convertAll("list resource", resp.ListResourceSchemas, convertSchema)
	p.ActionSchemas, errs[5] = convertAll("action", resp.ActionSchemas, convertAction)
	p.Functions, errs[6] = convertAll("function", resp.Functions, convertFunction)
	p.ResourceIdentitySchemas, errs[7] = convertAll("identity of", ids.IdentitySchemas, convertIdentity)
	return &p, errors.Join(errs[:]...)
}

// convertAll converts the schemas of one kind; it returns nil for none, which a
// document leaves out.
func convertAll[From, To any](kind string, from map[string]From, convert func(From) (To, error)) (map[string]To, error) {
	if len(from) == 0 {
		return nil, nil
	}
	to := make(map[string]To, len(from))
	for name, schema := range from {
		converted, err := convert(schema)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", kind, name, err)
		}
		to[name] = converted
	}
	return to, nil
}
