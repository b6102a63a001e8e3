package dnsrecord

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/dnsdata"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

const keyForms = "<domain>/<type>/<name>/<value>, such as example.com/TXT/@/v=spf1 -all; without the last part if there is one such record; or the id"

var errCantRead = errors.New("this API has no operation that reads a DNS record, so no record can be imported; create records with Terraform from the start, or manage them without it")

// ImportState implements resource.ResourceWithImportState: by id, by domain,
// type, name and value, or by identity. It sets the domain, which a Read can't.
func (r *Resource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	var in zone
	r.ImportFound(ctx, req, resp, func(ctx context.Context, c *client.Client, key string) (id string, err error) {
		id, in, err = findByKey(ctx, c, key)
		return id, err
	})
	var id types.String
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(resp.State.GetAttribute(ctx, path.Root("id"), &id)...)
	}
	c := r.Client(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	m, err := imported(ctx, c, id.ValueString(), in)
	if err != nil {
		service.AddErrorWithAdvice(&resp.Diagnostics, err, "Can't import the DNS record "+id.ValueString(), nil, importAdvice(err))
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

func importAdvice(err error) string {
	switch {
	case errors.Is(err, errCantRead):
		return ""
	case errors.Is(err, errSystemManaged):
		return systemManagedAdvice
	}
	return "Import by " + keyForms + "."
}

// imported returns the record with an id. It searches for an unknown domain.
func imported(ctx context.Context, c *client.Client, id string, in zone) (*model, error) {
	record, err := readByID(ctx, c, id)
	switch {
	case errors.Is(err, client.ErrReadUnsupported):
		return nil, errCantRead
	case err != nil:
		return nil, err
	case record.IsSystemManaged:
		return nil, errSystemManaged
	}
	if in.name == "" {
		if in, err = searchZone(ctx, c, record); err != nil {
			return nil, err
		}
	}
	m := new(model)
	m.setZone(in)
	m.flatten(record)
	return m, nil
}

// parseKey parses an import key.
func parseKey(s string) (recordKey, error) {
	parts := strings.SplitN(s, "/", 4)
	if len(parts) < 3 {
		return recordKey{}, errors.New("expected " + keyForms)
	}
	k := recordKey{domain: parts[0], name: parts[2]}
	if len(parts) > 3 {
		k.value = parts[3]
	}
	var err error
	if k.recordType, err = dnsdata.NormalizeType(parts[1]); err != nil {
		return k, fmt.Errorf("%w; expected %s", err, keyForms)
	}
	return k, nil
}

// findByKey returns the id of the one record with an import key that can be imported.
func findByKey(ctx context.Context, c *client.Client, s string) (id string, in zone, err error) {
	key, err := parseKey(s)
	if err != nil {
		return "", zone{}, err
	}
	found, in, err := key.records(ctx, c)
	if errors.Is(err, client.ErrReadUnsupported) {
		return "", zone{}, errCantRead
	}
	if err != nil {
		return "", zone{}, err
	}
	record, err := key.importable(found)
	if err != nil {
		return "", zone{}, err
	}
	return strconv.FormatInt(record.ID, 10), in, nil
}

// importable returns the record among those with the key that can be imported.
func (k recordKey) importable(found []api.DNSRecord) (*api.DNSRecord, error) {
	candidates := slices.DeleteFunc(slices.Clone(found), func(r api.DNSRecord) bool { return r.IsSystemManaged })
	if len(candidates) == 0 && len(found) > 0 {
		return nil, fmt.Errorf("%w. %s", errSystemManaged, systemManagedAdvice)
	}
	return k.one(candidates)
}
