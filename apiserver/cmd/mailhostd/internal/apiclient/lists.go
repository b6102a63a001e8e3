package apiclient

import (
	"context"
	"path"
	"slices"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// Lists returns the operations that list all objects of a kind in an account.
func Lists() []api.Spec {
	return slices.DeleteFunc(api.Specs(), func(s api.Spec) bool {
		_, isPaged := s.Request.FieldByName("Paged")
		return !isPaged || path.Dir(s.Path) != api.Prefix
	})
}

// Total returns the length of a list.
func Total(ctx context.Context, c *Client, list api.Spec) (int, error) {
	op := api.Operation[api.ListRequest, struct {
		Total int `json:"total"`
	}]{Spec: list}
	page, err := Call(ctx, c, op, &api.ListRequest{Paged: api.Paged{Page: 1, PageSize: 1}})
	if err != nil {
		return 0, err
	}
	return page.Total, nil
}
