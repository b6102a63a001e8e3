package dnsrecord

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/customtype"
)

// zone is the domain of a record. The API's answers do not name it, so it is
// looked up once and then kept in the state.
type zone struct {
	// id is empty where the credential may not see the domain.
	id   string
	name string
}

// zoneOf returns the domain that is referred to by name or UUID. Of one that the
// credential may not see, its name alone will do. One that does not exist is left
// to the API, which refuses it at the right place.
func zoneOf(ctx context.Context, c *client.Client, ref string) (zone, error) {
	d, err := c.GetDomain(ctx, ref)
	name := zoneNamed(ref)
	switch {
	case err == nil:
		return zone{id: d.ID, name: zoneNamed(d.Name)}, nil
	case client.IsNotFound(err), client.StatusOf(err) == http.StatusForbidden && name != "":
		return zone{name: name}, nil
	}
	return zone{}, err
}

// zoneNamed returns the canonical name of a domain that is referred to by its
// name, and "" for a reference that is a UUID, or invalid.
func zoneNamed(ref string) string {
	if uuid.Validate(ref) == nil {
		return ""
	}
	name, err := customtype.Normalize[customtype.DomainName](ref)
	if err != nil {
		return ""
	}
	return name
}
