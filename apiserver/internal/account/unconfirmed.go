package account

import (
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

var _ = change(api.ReviewCreates, func(c *Call, tx store.Tx, in *api.ReviewCreatesRequest) (*api.UnconfirmedCreates, error) {
	account, origin := c.Caller.AccountID, in.Body.Origin
	if in.Body.Run != nil {
		if err := tx.ConfirmRun(account, origin, *in.Body.Run); err != nil {
			return nil, err
		}
	}
	for _, objects := range in.Body.Objects {
		if err := tx.ConfirmCreates(account, origin, objects.Type, objects.IDs); err != nil {
			return nil, err
		}
	}
	if in.Body.Complete {
		if err := tx.MarkCreatesLost(account, origin); err != nil {
			return nil, err
		}
	}
	if err := tx.DeleteExpiredCreates(account, c.Arrival); err != nil {
		return nil, err
	}
	left, err := tx.UnconfirmedCreates(account, origin, "", c.Arrival)
	out := &api.UnconfirmedCreates{Objects: []api.CreatedObjects{}, Lost: []api.CreatedObjects{}}
	for _, create := range left {
		group := &out.Objects
		if create.Lost {
			group = &out.Lost
		}
		n := len(*group)
		if n == 0 || (*group)[n-1].Type != create.ObjectType { // they are in the order of their types
			*group = append(*group, api.CreatedObjects{Type: create.ObjectType})
			n++
		}
		ids := &(*group)[n-1].IDs
		*ids = append(*ids, create.ObjectID)
	}
	return out, err
})
