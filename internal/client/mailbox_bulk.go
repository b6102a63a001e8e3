package client

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

// CreateMailboxes creates many mailboxes of one domain, each reported on its
// own.
func (c *Client) CreateMailboxes(ctx context.Context, body api.CreateMailboxesBody) (*api.CreatedMailboxes, error) {
	var seen *api.CreatedMailboxes
	cr := &creation[api.CreatedMailboxes]{
		object: fmt.Sprintf("%d mailboxes of %s", len(body.Items), body.Domain),
		id: func(r *api.CreatedMailboxes) string {
			if len(r.Created)+len(r.Failed) == 0 {
				return ""
			}
			return body.Domain
		},
		find: func(ctx context.Context) ([]api.CreatedMailboxes, error) {
			var err error
			if seen, err = c.mailboxesLike(ctx, body); err != nil || len(seen.Created)+len(seen.Failed) < len(body.Items) {
				return nil, err
			}
			return []api.CreatedMailboxes{*seen}, nil
		},
		forget: c.mailboxes.invalidate,
		may:    "some of the mailboxes may have been created",
	}
	created, err := create(ctx, c, api.CreateMailboxes, &api.CreateMailboxesRequest{Body: body}, cr)
	if err != nil {
		return nil, err
	}
	if seen != nil && !cr.replayed {
		created = credit(created, seen)
	}
	for i := range created.Created {
		c.mailboxes.upsert(created.Created[i].Mailbox)
	}
	return created, nil
}

// mailboxesLike reports which mailboxes of a bulk request exist, in the form of
// its answer. The second of two equal items counts as failed, as the API does it.
func (c *Client) mailboxesLike(ctx context.Context, body api.CreateMailboxesBody) (*api.CreatedMailboxes, error) {
	want := itemsByLocalPart(body.Items)
	r := &api.CreatedMailboxes{}
	for m, err := range c.ListMailboxes(ctx, api.ListMailboxesRequest{Domain: body.Domain}) {
		if err != nil {
			return nil, err
		}
		if !inDomain(&m, body.Domain) {
			continue
		}
		for n, place := range want.of(&m) {
			if n == 0 {
				r.Created = append(r.Created, api.CreatedMailboxItem{Index: place, Mailbox: m})
				continue
			}
			r.Failed = append(r.Failed, api.FailedMailboxItem{
				Code: api.BulkDuplicateInRequest, Index: place, Message: "the request asks for this mailbox twice",
			})
		}
	}
	return r, nil
}

// credit turns the items of a repeated request that failed because the lost one
// had created them into created ones.
func credit(answer, seen *api.CreatedMailboxes) *api.CreatedMailboxes {
	earlier := map[int]api.CreatedMailboxItem{}
	for _, item := range seen.Created {
		earlier[item.Index] = item
	}
	r := &api.CreatedMailboxes{Created: answer.Created}
	for _, item := range answer.Failed {
		if was, ok := earlier[item.Index]; ok && item.Code == api.BulkAlreadyExists {
			r.Created = append(r.Created, was)
			continue
		}
		r.Failed = append(r.Failed, item)
	}
	slices.SortFunc(r.Created, func(a, b api.CreatedMailboxItem) int { return cmp.Compare(a.Index, b.Index) })
	return r
}
