package auth

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/identity"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// The limits of a token's claims. A grant can't contain a longer subject.
const (
	maxSubjectLength = 255 // characters
	maxGroups        = 256
)

// check returns an *identity.InvalidTokenError if the user can't be a caller.
func check(u identity.User) error {
	invalid := func(format string, args ...any) error {
		return &identity.InvalidTokenError{Reason: "the access token" + fmt.Sprintf(format, args...)}
	}
	switch {
	case u.ID == "":
		return invalid(" names no user: its sub claim is missing or empty")
	case len(u.Groups) > maxGroups:
		return invalid(" names %d groups; at most %d are accepted", len(u.Groups), maxGroups)
	}
	claim := "sub"
	for _, name := range append([]string{u.ID}, u.Groups...) {
		if !isShort(name) {
			return invalid("'s %s claim holds a name of more than %d characters", claim, maxSubjectLength)
		}
		if !isPlain(name) {
			return invalid("'s %s claim holds a control character", claim)
		}
		claim = "groups"
	}
	return nil
}

func isShort(s string) bool { return utf8.RuneCountInString(s) <= maxSubjectLength }

// isPlain reports whether a text can be stored and displayed unchanged.
func isPlain(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) })
}

// callerOf returns the user as a caller without an account. It drops an invalid email or name.
func callerOf(u identity.User) Caller {
	who := Caller{Subjects: []store.Subject{{Type: vocab.SubjectUser, ID: u.ID}}, ExpiresAt: u.ExpiresAt}
	for _, g := range u.Groups {
		who.Subjects = append(who.Subjects, store.Subject{Type: vocab.SubjectGroup, ID: g})
	}
	if isShort(u.Email) && isPlain(u.Email) {
		who.Email = u.Email
	}
	if isShort(u.Name) && isPlain(u.Name) {
		who.Name = u.Name
	}
	for name, value := range u.Details {
		if who.Details == nil {
			who.Details = map[string]string{}
		}
		who.Details[name] = printable(value)
	}
	return who
}

// printable escapes what isPlain refuses, and shortens a long text.
func printable(s string) string {
	if !isPlain(s) {
		s = strings.Trim(strconv.QuoteToASCII(s), `"`)
	}
	if r := []rune(s); len(r) > maxSubjectLength {
		s = string(r[:maxSubjectLength-1]) + "…"
	}
	return s
}

// AccessOf returns the accounts that the user of an access token may sign in to, or a 401.
func (a *Authenticator) AccessOf(ctx context.Context, accessToken string) (identity.UserAccess, error) {
	user, err := a.user(ctx, accessToken)
	if err != nil {
		return identity.UserAccess{}, err
	}
	return store.Read(ctx, a.store, func(r store.Reader) (access identity.UserAccess, err error) {
		access.ID = user.Subjects[0].ID
		accounts, err := r.Accounts()
		for _, account := range accounts {
			who, err := user.In(account.ID, noOperation)
			if err != nil { // the user's id equals the built-in owner's
				continue
			}
			grants, err := r.GrantsOf(account.ID, who.Subjects)
			if err != nil {
				return access, err
			}
			if len(grants) > 0 {
				access.Accounts = append(access.Accounts, account.ID)
			}
		}
		return access, err
	})
}

// userIn returns the user of an access token as a caller in an account that grants them something,
// or a 401 or 403.
func (a *Authenticator) userIn(ctx context.Context, accessToken, accountID string) (Caller, error) {
	who, err := a.user(ctx, accessToken)
	if err != nil {
		return Caller{}, err
	}
	if who, err = who.In(accountID, noOperation); err != nil {
		return Caller{}, err
	}
	return a.AuthorizeNow(ctx, who, noOperation)
}
