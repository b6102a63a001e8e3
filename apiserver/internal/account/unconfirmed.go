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
	out := &api.UnconfirmedCreates{Objects: []api.CreatedObjects{}}
	for i, create := range left {
		if i == 0 || create.ObjectType != left[i-1].ObjectType {
			out.Objects = append(out.Objects, api.CreatedObjects{Type: create.ObjectType})
		}
		last := &out.Objects[len(out.Objects)-1]
		last.IDs = append(last.IDs, create.ObjectID)
	}
	return out, err
})
