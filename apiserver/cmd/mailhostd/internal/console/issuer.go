package console

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/apiclient"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/signin"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/identity"
)

// Sign-in at the OAuth issuer takes two steps: startAtIssuer redirects to the issuer, and returnFromIssuer
// gets the person's access token and seals it in the session. A person with several accounts then chooses one.

// attemptCookie stores an attempt. It is no credential, and valid for one response of the issuer. It is sealed,
// because a response to an attempt makes the server call the issuer.
const attemptCookie = "mailhost_console_attempt"

// attemptLifetime limits a sign-in at the OAuth issuer.
const attemptLifetime = 15 * time.Minute

func (c *Console) issuerName() string {
	u, _ := url.Parse(c.issuer.Issuer) // the URL was checked
	return u.Host
}

func (c *Console) startAtIssuer(w http.ResponseWriter, r *http.Request) {
	next := pageOf(r.URL.Query().Get("next"))
	page, a, err := c.issuer.Start(r.Context())
	if err != nil {
		if limited := c.service.LimitSignIn(r.RemoteAddr); limited != nil {
			err = limited
		}
		c.refuseSignIn(w, r, next, err)
		return
	}
	kept := url.Values{"state": {a.State}, "verifier": {a.Verifier}, "next": {next}}
	sealed, err := c.service.SealAttempt(r.Context(), kept.Encode(), attemptLifetime)
	if err != nil {
		c.refuseSignIn(w, r, next, err)
		return
	}
	c.setCookie(w, r, attemptCookie, sealed, int(attemptLifetime.Seconds()))
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, page, http.StatusSeeOther)
}

// returnFromIssuer signs in the person whom the issuer redirects back.
func (c *Console) returnFromIssuer(w http.ResponseWriter, r *http.Request) {
	opened, err := c.service.OpenAttempt(r.Context(), c.readCookie(r, attemptCookie))
	if err != nil {
		c.refuseSignIn(w, r, "", err)
		return
	}
	kept, _ := url.ParseQuery(opened) // "", of a forged or missing cookie, matches no response of the issuer
	a, next := signin.Attempt{State: kept.Get("state"), Verifier: kept.Get("verifier")}, kept.Get("next")
	c.setCookie(w, r, attemptCookie, "", -1) // valid for one response
	code, err := c.issuer.Code(a, r.URL.Query())
	if err != nil {
		c.refuseSignIn(w, r, next, err)
		return
	}
	var token string
	err = c.service.CallIssuer(r.Context(), r.RemoteAddr, func() (err error) {
		token, err = c.issuer.Exchange(r.Context(), a, code)
		return err
	})
	if err != nil {
		c.refuseSignIn(w, r, next, err)
		return
	}
	access, err := c.service.AccessOf(r.Context(), token, r.RemoteAddr)
	if err == nil && len(access.Accounts) == 0 {
		err = &failure{Status: http.StatusForbidden, Message: fmt.Sprintf("%s knows you, but no account here gives you any rights. "+
			"Ask an administrator for a grant to one of your groups, or to you: %s.", c.issuerName(), access.ID)}
	}
	if err == nil {
		err = c.beginFirstSession(w, r, token, access.Accounts)
	}
	if err != nil {
		c.refuseSignIn(w, r, next, err)
		return
	}
	to := pageOf(next)
	if len(access.Accounts) > 1 {
		to = "/accounts"
	}
	c.redirect(w, r, to)
}

// maxCookie is the largest size of a session that browsers store, in bytes.
const maxCookie = 3850

// beginFirstSession begins a session in the first account that allows one: an account without any
// service account does not.
func (c *Console) beginFirstSession(w http.ResponseWriter, r *http.Request, accessToken string, accounts []string) (err error) {
	for _, id := range accounts {
		err = c.beginUserSession(w, r, accessToken, id)
		if e, ok := errors.AsType[*api.Error](err); !ok || e.GetStatus() != http.StatusConflict {
			return err
		}
	}
	return err
}

func (c *Console) beginUserSession(w http.ResponseWriter, r *http.Request, accessToken, accountID string) error {
	sealed, err := c.service.SignInUser(r.Context(), accessToken, accountID, r.RemoteAddr, lifetime)
	if err != nil {
		return err
	}
	if len(sealed) > maxCookie {
		return &failure{Status: http.StatusForbidden, Message: fmt.Sprintf("Your access token is too large for a browser’s cookie: %s are possible, and it needs %s. "+
			"Ask your administrator to leave groups or claims out of it.", number(maxCookie), number(len(sealed)))}
	}
	c.beginSession(w, r, sealed)
	return nil
}

// refuseSignIn shows the sign-in page with the reason.
func (c *Console) refuseSignIn(w http.ResponseWriter, r *http.Request, next string, err error) {
	form, status := signInForm{Next: next}, http.StatusForbidden
	_, known := errors.AsType[*failure](err)
	_, fromAPI := errors.AsType[*api.Error](err)
	switch {
	case errors.Is(err, signin.ErrOtherAttempt):
		status, form.Error = http.StatusBadRequest, "This sign-in has ended, or was begun in another browser. Start again here."
	case errors.Is(err, signin.ErrRefused):
		form.Error = c.issuerName() + " did not sign you in" + strings.TrimPrefix(err.Error(), signin.ErrRefused.Error()) + "."
	case known || fromAPI:
		f := failureOf(err)
		status, form.Error = f.Status, f.Message
	default:
		status, form.Error = http.StatusServiceUnavailable, c.issuerName()+" can’t be reached at the moment. Try again, or sign in with a token."
	}
	if status != http.StatusBadRequest && status != http.StatusTooManyRequests && !known {
		c.log.Warn("sign-in at the issuer failed", "request_id", requestID(r), "issuer", c.issuer.Issuer, "error", fmt.Sprintf("%.512s", err))
	}
	c.writeSignIn(w, r, status, form)
}

// accountRow is an account that the visitor may enter. Accounts have no names, so the row shows the
// first domains that the visitor may see.
type accountRow struct {
	ID      string
	Domains part[*api.Page[api.Domain]]
	Current bool
}

// More returns the number of domains not shown.
func (r accountRow) More() int { return r.Domains.Content.Total - len(r.Domains.Content.Items) }

const domainsShown = 3

func listAccounts(v *visit) (view, error) {
	if v.session.ServiceAccountID != "" {
		return view{}, notFound("A token belongs to one account.")
	}
	access, err := v.service.AccessOf(v.Context(), v.session.Token, v.RemoteAddr)
	if err != nil {
		return view{}, err
	}
	var rows []accountRow
	for _, id := range access.Accounts {
		entered := v.clientFor(v.Request, identity.Session{AccountID: id, Token: v.session.Token})
		first := &api.ListDomainsRequest{Paged: api.Paged{Page: 1, PageSize: domainsShown}}
		rows = append(rows, accountRow{id, partOf(apiclient.Call(v.Context(), entered, api.ListDomains, first)), id == v.session.AccountID})
	}
	return view{Template: "accounts.html", Title: "Accounts", Data: rows}, nil
}

// switchAccount seals the session's access token for another account.
func switchAccount(v *visit) (view, error) {
	id := formValue(v.Request, "account")
	access, err := v.service.AccessOf(v.Context(), v.session.Token, v.RemoteAddr)
	if err == nil && !slices.Contains(access.Accounts, id) {
		err = notFound("There is no such account, or it gives you no rights.")
	}
	if err == nil {
		err = v.beginUserSession(v.response, v.Request, v.session.Token, id)
	}
	return view{RedirectTo: "/"}, err
}
