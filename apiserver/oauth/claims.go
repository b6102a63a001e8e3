package oauth

import (
	"encoding/base64"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
)

// typeAccessToken is the type of a JWT that says of itself that it is an access
// token (RFC 9068, section 2.1). Many issuers don't say.
const typeAccessToken = "at+jwt"

// headerType returns the typ of a token's header in its short form (RFC 7515,
// section 4.1.9), in lower case.
func headerType(t *jwt.JSONWebToken) string {
	typ, present := t.Headers[0].ExtraHeaders[jose.HeaderType]
	if !present {
		return ""
	}
	s, ok := typ.(string)
	if !ok {
		return "unknown"
	}
	return strings.TrimPrefix(strings.ToLower(s), "application/")
}

// hasCritical reports whether a token's header has crit, which names extensions
// that must be understood (RFC 7515, section 4.1.11). None is here; and go-jose
// lets an empty list and null pass, which are no list of names.
func hasCritical(token string) bool {
	header, _, _ := strings.Cut(token, ".")
	text, err := base64.RawURLEncoding.DecodeString(header)
	var members map[string]any
	if err != nil || json.Unmarshal(text, &members) != nil {
		return true // go-jose has read it
	}
	_, has := members["crit"]
	return has
}

// times are the claims that are points in time (RFC 7519, section 2). The
// libraries that compare them turn what is too large for an int64 into any other
// time, so numbers that are no sane one are refused before.
type times struct {
	Expiry    numericDate `json:"exp"`
	NotBefore numericDate `json:"nbf"`
	IssuedAt  numericDate `json:"iat"`
}

// lastSecond is that of the year 9999.
const lastSecond = 253402300799

// numericDate checks a NumericDate, and keeps nothing of it.
type numericDate struct{}

// UnmarshalJSON implements json.Unmarshaler.
func (numericDate) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	seconds, err := strconv.ParseFloat(string(b), 64)
	if err != nil || math.Abs(seconds) >= lastSecond+1 {
		return errClaims
	}
	return nil
}

// claims are what a token says. go-jose's decoder, unlike the standard one,
// takes a name in one case only, and no name twice.
type claims map[string]any

// ofAccessToken reports whether the claims can be those of an access token. The
// audience tells it as a rule; but nothing keeps an issuer from using one for
// the API and for the client that people sign in to.
func (c claims) ofAccessToken(headerType string) bool {
	if headerType == typeAccessToken {
		return true
	}
	for _, name := range []string{"at_hash", "c_hash"} { // OpenID Connect Core, section 3.3.2.11
		if _, has := c[name]; has {
			return false
		}
	}
	// What Keycloak and Amazon Cognito call their tokens.
	kind, use := c.text("typ"), c.text("token_use")
	return !slices.Contains([]string{"ID", "Refresh", "Offline", "Logout"}, kind) && (use == "" || use == "access")
}

// user returns whom the claims are about.
func (c claims) user(groupsClaim string) (apiserver.User, error) {
	u := apiserver.User{ID: c.text("sub"), Name: c.text("name")}
	// Cognito writes a string.
	if verified, said := c["email_verified"]; !said || verified == true || verified == "true" {
		u.Email = c.text("email")
	}
	if groups := c[groupsClaim]; groups != nil { // null says as little as no claim
		var err error
		if u.Groups, err = namesIn(groups); err != nil {
			return apiserver.User{}, err
		}
	}
	return u, nil
}

// text returns a claim that is a string, and the empty one for any other.
func (c claims) text(name string) string {
	s, _ := c[name].(string)
	return s
}

// namesIn returns the names of a claim that is a string or an array of them.
func namesIn(claim any) ([]string, error) {
	if name, ok := claim.(string); ok {
		return []string{name}, nil
	}
	list, ok := claim.([]any)
	if !ok {
		return nil, errGroups
	}
	names := make([]string, len(list))
	for i := range list {
		if names[i], ok = list[i].(string); !ok {
			return nil, errGroups
		}
	}
	return names, nil
}
