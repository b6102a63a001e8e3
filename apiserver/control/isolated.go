package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
)

const ownerName = "owner"

// IsolatedPath is the path prefix of isolated accounts' pages. An isolated account's service has
// the PublicURL path IsolatedPath plus the account's id.
const IsolatedPath = "/isolated/"

type isolated struct {
	plane   *Plane
	service *apiserver.Service
	api     http.Handler
	control http.Handler
}

// AccountOptions describe an account to create. All fields are optional.
type AccountOptions struct {
	AccountID string `json:"account_id,omitempty" doc:"The UUID of the account; a random one by default."`
	Token     string `json:"token,omitempty" doc:"The token of the account's owner. The account then survives a reset, empty and with this token."`
	Isolated  *bool  `json:"isolated,omitempty" doc:"Whether the account has a service of its own: domain names, messages, IPs, clock, outbox, journal, faults, snapshots and reset. mailhostd try: true by default, unless the server has the account."`
}

// Account is a created account, with its owner's token.
type Account struct {
	AccountID   string `json:"account_id"`
	WorkspaceID string `json:"workspace_id"`
	Token       string `json:"token"`
	Isolated    bool   `json:"isolated"`
	// ControlURL is the control plane of an isolated account.
	ControlURL string `json:"control_url,omitempty"`
}

// CreateAccount creates an account in s, or an isolated one.
func (p *Plane) CreateAccount(ctx context.Context, s *apiserver.Service, o AccountOptions) (Account, error) {
	if o.AccountID != "" && !api.IsID(o.AccountID) {
		return Account{}, invalid(errors.New("account_id: must be a UUID"))
	}
	ids, err := s.Accounts(ctx)
	if err = cmp.Or(err, p.checkReachable(o.AccountID)); err != nil {
		return Account{}, err
	}
	isolated, exists := o.Isolated != nil && *o.Isolated, slices.Contains(ids, api.CanonicalID(o.AccountID))
	if !exists && (isolated || o.Isolated == nil && p.IsolateByDefault) {
		return p.createIsolated(ctx, o)
	}
	if isolated { // an isolated account would hide the existing one
		return Account{}, &httpError{http.StatusConflict, fmt.Errorf("the account %s exists already, and is not isolated", o.AccountID)}
	}
	created := Account{AccountID: o.AccountID, Token: o.Token}
	if o.Token == "" {
		created.AccountID, created.Token, err = s.InitAccount(ctx, o.AccountID, ownerName)
	} else if created.AccountID, err = s.InitAccountWithToken(ctx, o.AccountID, ownerName, o.Token); err == nil {
		p.Keep(created)
	} else if _, inUse := errors.AsType[*apiserver.AccountInUseError](err); !inUse {
		err = invalid(fmt.Errorf("token: %w", err))
	}
	created.WorkspaceID = api.DefaultWorkspaceID(created.AccountID)
	return created, err
}

// checkReachable returns an error for an account that the plane's service must not contain, because
// API would route its requests to another service.
func (p *Plane) checkReachable(id string) error {
	if _, ok := p.find(id); ok {
		return &httpError{http.StatusConflict, fmt.Errorf("the account %s is isolated; use its own control plane", id)}
	}
	if p.only != "" && p.only != api.CanonicalID(id) {
		return invalid(fmt.Errorf("this control plane has the isolated account %s only; use the server's", p.only))
	}
	return nil
}

// Keep makes an account survive resets, with its token.
func (p *Plane) Keep(a Account) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept = append(p.kept, a)
}

func (p *Plane) createIsolated(ctx context.Context, o AccountOptions) (Account, error) {
	if p.NewService == nil {
		return Account{}, invalid(errors.New("isolated: this server has no isolated accounts"))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.created++
	id := api.CanonicalID(o.AccountID)
	switch {
	case id != "":
	case p.Seed != nil:
		id = uuid.NewSHA1(uuid.Nil, fmt.Appendf(nil, "%d:%d", *p.Seed, p.created)).String()
	default:
		id = uuid.NewString()
	}
	if _, exists := p.isolated[id]; exists {
		return Account{}, &apiserver.AccountInUseError{AccountID: id}
	}
	child := &Plane{Hostile: p.Hostile, Seed: p.Seed, only: id}
	child.Faults.Seed = p.Faults.Seed
	service, err := p.NewService(ctx, id, child)
	if err != nil {
		return Account{}, err
	}
	created, err := child.CreateAccount(ctx, service, AccountOptions{AccountID: id, Token: o.Token})
	if err != nil {
		return Account{}, errors.Join(err, service.Close())
	}
	if o.Token == "" { // an isolated account always survives its own reset
		child.Keep(created)
	}
	if p.isolated == nil {
		p.isolated = map[string]isolated{}
	}
	p.isolated[id] = isolated{child, service, service.Handler(), child.routes(service)}
	created.Isolated = true
	return created, nil
}

func (p *Plane) find(id string) (isolated, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i, ok := p.isolated[api.CanonicalID(id)]
	return i, ok
}

// API returns a handler that serves isolated accounts, and passes other requests to next, the
// handler of the plane's service.
func (p *Plane) API(next http.Handler) http.Handler {
	before, _, _ := strings.Cut(api.Prefix, "{")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rest, isPage := strings.CutPrefix(r.URL.Path, IsolatedPath)
		if !isPage {
			rest = strings.TrimPrefix(r.URL.Path, before)
		}
		id, _, _ := strings.Cut(rest, "/") // "" for another path
		switch i, ok := p.find(id); {
		case !ok:
			next.ServeHTTP(w, r)
		case isPage:
			http.StripPrefix(IsolatedPath+id, i.api).ServeHTTP(w, r)
		default:
			i.api.ServeHTTP(w, r)
		}
	})
}

// Drain drains the services of the isolated accounts.
func (p *Plane) Drain() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, i := range p.isolated {
		i.service.Drain()
	}
}

// Close closes the services of the isolated accounts. Requests in flight must have ended.
func (p *Plane) Close() (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, i := range p.isolated {
		err = errors.Join(err, i.service.Close())
	}
	p.isolated = nil
	return err
}
