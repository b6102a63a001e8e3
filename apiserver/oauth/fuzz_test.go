package oauth

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
)

const fuzzedIssuer = "https://issuer.test"

// published is a RoundTripper that responds like an issuer with one key.
type published struct{}

func (published) RoundTrip(r *http.Request) (*http.Response, error) {
	var response any = obj{"keys": []any{jwk("ed", edKey.Public())}}
	if strings.HasPrefix(r.URL.Path, "/.well-known/") {
		response = obj{"issuer": fuzzedIssuer, "jwks_uri": fuzzedIssuer + "/keys"}
	}
	body, err := json.Marshal(response)
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)), Request: r}, err
}

// FuzzAccessToken signs arbitrary headers and claims with the issuer's key. It checks
// that an accepted token is a valid access token of the issuer for this API, and that
// every error is one of the package's.
func FuzzAccessToken(f *testing.F) {
	v, err := New(Options{Issuer: fuzzedIssuer, Audience: audience, Transport: published{}, Clock: func() time.Time { return start }})
	assert.NilError(f, err)
	later := start.Add(time.Hour).Unix()
	good := string(must(json.Marshal(obj{"iss": fuzzedIssuer, "aud": audience, "sub": "jane", "exp": later, "groups": []string{"ops"}})))
	for _, header := range []string{
		`{"alg":"EdDSA","kid":"ed"}`, `{"alg":"EdDSA","kid":"ed","typ":"at+jwt"}`, `{"alg":"none"}`, `{"alg":"HS256","kid":"ed"}`, `{"alg":"eddsa","kid":"ed"}`,
		`{"alg":"EdDSA","kid":"../x","crit":["exp"],"jku":"http://evil.test"}`, `{"alg":"EdDSA","alg":"none"}`, `[]`, `{"alg":["EdDSA"]}`, `{"alg":"EdDSA","kid":5,"typ":7}`, `{"alg":"EdDSA","kid":"ed","crit":[]}`,
	} {
		f.Add([]byte(header), []byte(good))
	}
	for _, claims := range []string{
		`{}`, `null`, `[]`, strings.Replace(good, `"exp"`, `"EXP"`, 1), strings.Replace(good, `"aud"`, `"aud":"x","aud"`, 1), strings.Replace(good, "jane", "", 1),
		strings.Replace(good, `"jane"`, "5", 1), strings.Replace(good, `["ops"]`, `[["ops"]]`, 1), strings.Replace(good, `["ops"]`, `"ops"`, 1), strings.Replace(good, "ops", "\x00", 1),
		`{"exp":1e999}`, `{"exp":"soon"}`, `{"aud":{}}`, `{"nbf":-1e18}`, strings.Replace(good, `"exp"`, `"nbf":1e300,"exp"`, 1), strings.Replace(good, `"exp"`, `"nbf":9999999999,"NBF":1,"exp"`, 1), good + "x", strings.Replace(good, "jane", strings.Repeat("j", 5000), 1),
	} {
		f.Add([]byte(`{"alg":"EdDSA","kid":"ed"}`), []byte(claims))
	}
	encode := base64.RawURLEncoding.EncodeToString
	f.Fuzz(func(t *testing.T, header, claims []byte) {
		signed := encode(header) + "." + encode(claims)
		user, err := v.VerifyToken(t.Context(), signed+"."+encode(ed25519.Sign(edKey, []byte(signed))))
		if err != nil {
			invalid := new(apiserver.InvalidTokenError)
			assert.Check(t, errors.As(err, &invalid) || errors.Is(err, apiserver.ErrTokenExpired), "%q %q: %v", header, claims, err)
			return
		}
		var h, c map[string]any // member names are case-sensitive
		assert.Assert(t, json.Unmarshal(header, &h) == nil && json.Unmarshal(claims, &c) == nil, "%q %q is accepted", header, claims)
		notBefore, _ := c["nbf"].(float64)
		assert.Check(t, notBefore <= float64(start.Add(notBeforeLeeway).Unix()), "%q is accepted before its nbf", claims)
		_, has := h["crit"]
		assert.Check(t, !has, "%q is accepted", header)
		list, _ := c["aud"].([]any)
		expiry, _ := c["exp"].(float64)
		if h["alg"] != "EdDSA" || c["iss"] != fuzzedIssuer || c["aud"] != audience && !slices.Contains(list, any(audience)) || expiry <= float64(start.Unix()) || expiry > lastSecond+1 {
			t.Errorf("%q %q is accepted", header, claims)
		}
		sub, _ := c["sub"].(string)
		assert.Check(t, user.ID == sub, "%q is the user %q", claims, user.ID)
	})
}
