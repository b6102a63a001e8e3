package oauth

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/identity"
)

// typeAccessToken is the typ of a JWT explicitly marked as an access token (RFC 9068, section 2.1).
// Many issuers don't set it.
const typeAccessToken = "at+jwt"

// headerType returns the typ in a token's header, in its short form (RFC 7515, section 4.1.9) and
// in lower case.
func headerType(t *jwt.JSONWebToken) string {
	typ := t.Headers[0].ExtraHeaders[jose.HeaderType]
	if typ == nil {
		return ""
	}
	return strings.TrimPrefix(strings.ToLower(fmt.Sprint(typ)), "application/")
}

// lastSecond is the last second of the year 9999 in Unix time.
const lastSecond = 253402300799

// claims are a token's claims. Unlike encoding/json, go-jose's decoder compares names
// exactly and rejects duplicates.
type claims map[string]any

// hasDistantTime reports whether a time in the claims (RFC 7519, section 2) is beyond the year
// 9999. The libraries would convert a number that overflows an int64 to an arbitrary time.
func (c claims) hasDistantTime() bool {
	return slices.ContainsFunc([]string{"exp", "nbf", "iat"}, func(name string) bool {
		seconds, _ := c[name].(float64)
		return math.Abs(seconds) >= lastSecond+1
	})
}

// isAccessToken reports whether the claims can belong to an access token. Usually the audience
// decides, but an issuer may use the same audience for the API and for the client of its sign-in.
func (c claims) isAccessToken(headerType string) bool {
	if headerType == typeAccessToken {
		return true
	}
	for _, name := range []string{"at_hash", "c_hash"} { // OpenID Connect Core, section 3.3.2.11
		if _, has := c[name]; has {
			return false
		}
	}
	// The token types of Keycloak and Amazon Cognito.
	kind, use := c.text("typ"), c.text("token_use")
	return !slices.Contains([]string{"ID", "Refresh", "Offline", "Logout"}, kind) && (use == "" || use == "access")
}

func (c claims) user(groupsClaim string) (identity.User, error) {
	u := identity.User{ID: c.text("sub"), Name: c.text("name")}
	// People may enter any address at some issuers. Entra ID never sends email_verified, Cognito sends a string.
	if verified := c["email_verified"]; verified == true || verified == "true" {
		u.Email = c.text("email")
	}
	if groups := c[groupsClaim]; groups != nil { // null counts as absent
		text, _ := json.Marshal(groups) // groups was decoded from JSON
		// Groups use the form of aud: a string or an array of strings.
		if (*jwt.Audience)(&u.Groups).UnmarshalJSON(text) != nil {
			return identity.User{}, errGroups
		}
	}
	return u, nil
}

// text returns a string claim, or "" for any other type.
func (c claims) text(name string) string {
	s, _ := c[name].(string)
	return s
}
