package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// ErrNoAPI says that nothing of the API is to be found where it is looked for.
var ErrNoAPI = errors.New("there is nothing of the API at this base_url")

// conclude records that this API lacks an operation, for the reason that failure
// gives. At a wrong base URL everything is missing, and a destroy would believe
// that nothing can be deleted: so the API must have answered something, or it is
// asked for a list that every API has.
func (c *Client) conclude(ctx context.Context, s api.Spec, failure error) error {
	if !c.answers.Load() {
		_, err := call(ctx, c, api.ListDomains, &api.ListDomainsRequest{Paged: api.Paged{Page: 1, PageSize: 1}})
		if err != nil && !refusedByAPI(err) {
			if e, ok := errors.AsType[*Error](err); ok && (e.unsupported() || e.Status == http.StatusNotFound) {
				e.incident = &c.incidents.noAPI
				return fmt.Errorf("%w, not even the list of domains, which every API has: %w", ErrNoAPI, hideNotFound{err})
			}
			return fmt.Errorf("%w; nor could the list of domains be had, which every API has: %w", hideNotFound{failure}, hideNotFound{err})
		}
	}
	c.caps.missing(s)
	return nil
}

// refusedByAPI reports whether an error is a refusal in the API's own words.
func refusedByAPI(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && len(e.Problems) > 0 && (e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden)
}
