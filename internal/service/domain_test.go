package service

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/client"
)

// someDomains is an account that counts its requests.
type someDomains struct {
	domains     []api.Domain
	err         error
	gets, lists int
}

func (s *someDomains) GetDomain(_ context.Context, id string) (*api.Domain, error) {
	s.gets++
	for _, d := range s.domains {
		if d.ID == id && s.err == nil {
			return &d, nil
		}
	}
	return nil, errors.Join(s.err, client.ErrNotFound)
}

func (s *someDomains) ListDomains(context.Context, api.ListDomainsRequest) iter.Seq2[api.Domain, error] {
	s.lists++
	return func(yield func(api.Domain, error) bool) {
		if s.err != nil {
			yield(api.Domain{}, s.err)
			return
		}
		for _, d := range s.domains {
			if !yield(d, nil) {
				return
			}
		}
	}
}

func TestDomainCache(t *testing.T) {
	t.Parallel()
	failure := errors.New("no response")
	const deleted = "9f0c1c1e-6f0e-4d8e-9a3c-1f2a3b4c5d6e"
	for name, c := range map[string]struct {
		err         error
		ids, names  []string
		gets, lists int
	}{
		"one domain":  {nil, []string{domainUUID, strings.ToUpper(domainUUID), domainUUID}, []string{"a.com", "a.com", "a.com"}, 1, 0},
		"several":     {nil, []string{domainUUID, otherUUID, domainUUID, strings.ToUpper(otherUUID)}, []string{"a.com", "b.com", "a.com", "b.com"}, 1, 1},
		"deleted":     {nil, []string{deleted, deleted, otherUUID, deleted}, []string{"", "", "b.com", ""}, 1, 1},
		"failure":     {failure, []string{domainUUID, domainUUID, otherUUID, domainUUID}, []string{"", "", "", ""}, 1, 1},
		"one deleted": {nil, []string{domainUUID, deleted, otherUUID}, []string{"a.com", "", "b.com"}, 1, 1},
	} {
		account := &someDomains{domains: []api.Domain{{ID: domainUUID, Name: "a.com"}, {ID: otherUUID, Name: "b.com"}}, err: c.err}
		memo := &domainCache{api: account}
		for i, id := range c.ids {
			d, err := memo.GetDomain(t.Context(), id)
			switch want := c.names[i]; {
			case want != "" && (err != nil || d.Name != want):
				t.Errorf("%s: %d: %v, %v; want %s", name, i, d, err, want)
			case want == "" && !errors.Is(err, cmp.Or(c.err, client.ErrNotFound)):
				t.Errorf("%s: %d: %v, %v; want the error of the API", name, i, d, err)
			}
		}
		if account.gets != c.gets || account.lists != c.lists {
			t.Errorf("%s: %d reads of one and %d lists; want %d and %d", name, account.gets, account.lists, c.gets, c.lists)
		}
	}
}
