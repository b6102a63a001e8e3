package mailboxset

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
	"github.com/mailhost/terraform-provider-mailhost/internal/service"
)

// unknownKey is the key of [unknownCreates] in the private state.
const unknownKey = "unknown"

// unknownCreates are the mailboxes that an apply has requested without learning whether
// they were created, because the response was lost and a lookup was not possible. The next
// apply continues with those that exist.
type unknownCreates struct {
	// Since is when the apply began, by the API's clock; zero if that is not known.
	Since      time.Time `json:"since"`
	LocalParts []string  `json:"local_parts"` // sorted
}

func (u unknownCreates) has(key string) bool {
	_, ok := slices.BinarySearch(u.LocalParts, localPart(key))
	return ok
}

func unknownCreatesOf(ctx context.Context, private service.PrivateState) (u unknownCreates) {
	data, _ := private.GetKey(ctx, unknownKey)
	if data == nil || json.Unmarshal(data, &u) != nil {
		return unknownCreates{}
	}
	return u
}

func (u unknownCreates) store(ctx context.Context, private service.PrivateState) diag.Diagnostics {
	if len(u.LocalParts) == 0 {
		return private.SetKey(ctx, unknownKey, nil)
	}
	return service.SetPrivate(ctx, private, unknownKey, u)
}

// own returns the existing mailboxes that the earlier apply has created: those that it
// requested with the names of the map, and that are not older.
func (u unknownCreates) own(want *contents, existing map[string]*api.Mailbox) map[string]*api.Mailbox {
	own := map[string]*api.Mailbox{}
	for key, m := range existing {
		created, err := time.Parse(time.RFC3339, m.CreatedAt)
		isOlder := err == nil && created.Before(u.Since)
		if u.has(key) && !isOlder && want.entries[key].same(entryOf(m)) {
			own[key] = m
		}
	}
	return own
}

// unknown returns the creates of an apply with an unknown outcome, and those of earlier
// applies that have failed again. since is when the apply began.
func (a *apply) unknown(earlier unknownCreates, since time.Time) unknownCreates {
	u := unknownCreates{Since: since}
	for _, f := range a.failures {
		wasUnknown := earlier.has(f.key)
		if _, isUnknown := errors.AsType[*client.UnknownOutcomeError](f.err); isUnknown || wasUnknown {
			u.LocalParts = append(u.LocalParts, localPart(f.key))
		}
		if wasUnknown {
			u.Since = earlier.Since
		}
	}
	slices.Sort(u.LocalParts)
	return u
}
