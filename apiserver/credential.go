package apiserver

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"errors"
	"hash/crc32"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

const (
	publicIDBytes    = 10
	tokenSecretBytes = 32 // 256 bits: a plain hash is enough at rest
	checksumChars    = 7  // a CRC-32 in base 32
)

var tokenEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// serviceToken is a service account's bearer token in its parts.
type serviceToken struct {
	publicID, secret string
}

func (s *Service) newServiceToken() serviceToken {
	return serviceToken{
		publicID: tokenEncoding.EncodeToString(s.random.Bytes(publicIDBytes)),
		secret:   tokenEncoding.EncodeToString(s.random.Bytes(tokenSecretBytes)),
	}
}

// String returns mhsa_<public id>_<secret><checksum>.
func (t serviceToken) String() string {
	body := api.TokenPrefix + "_" + t.publicID + "_" + t.secret
	return body + checksum(body)
}

func (t serviceToken) hash() []byte {
	sum := sha256.Sum256([]byte(t.secret))
	return sum[:]
}

// checksum tells a mistyped token from an unknown one, without a look-up.
func checksum(body string) string {
	sum := crc32.ChecksumIEEE([]byte(body))
	return tokenEncoding.EncodeToString([]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)})
}

// parseServiceToken reports whether s is a well-formed token.
func parseServiceToken(s string) (serviceToken, bool) {
	parts := strings.Split(s, "_")
	if len(parts) != 3 || parts[0] != api.TokenPrefix || len(parts[1]) == 0 || len(parts[2]) <= checksumChars {
		return serviceToken{}, false
	}
	t := serviceToken{publicID: parts[1], secret: parts[2][:len(parts[2])-checksumChars]}
	return t, t.String() == s
}

// authenticate identifies the caller and checks that they may use the operation,
// before anything else of the request is read. The objects that a restricted grant
// covers are up to the operation.
func (s *Service) authenticate(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	spec := api.SpecOf(ctx)
	who, err := s.identify(ctx.Context(), r.Header.Values("Authorization"), canonicalID(ctx.Param("account_id")), spec)
	if keyed := spec.Keyed() && ctx.Header(api.IdempotencyKeyHeader) != ""; err == nil && !keyed {
		err = who.mayChange(spec) // the response to a keyed request may be a replay
	}
	if err != nil {
		var refusal *api.Error
		switch {
		case errors.As(err, &refusal):
		case ctx.Context().Err() != nil: // nobody waits for the response
			refusal = cancelled()
		default:
			s.log.Error("authentication failed", "request_id", requestID(ctx.Context()), "error", err)
			refusal = s.fault(err)
		}
		refusal.Write(w)
		return
	}
	next(huma.WithContext(ctx, api.WithArrival(who.attach(ctx.Context()), s.now())))
}

// identify returns the caller of a request's credential with their grants in the
// account of its path.
func (s *Service) identify(ctx context.Context, authorization []string, accountID string, spec api.Spec) (caller, error) {
	presented, err := s.presentedCaller(ctx, authorization)
	if err != nil {
		return caller{}, err
	}
	presented, err = presented.enter(accountID, spec)
	if err != nil {
		return caller{}, err
	}
	var who caller
	err = s.store.View(ctx, func(r store.Reader) (err error) {
		who, err = s.authorize(r, presented, spec)
		return err
	})
	return who, err
}

// presented is the caller that a credential names, or why it names none.
type presented struct {
	who caller
	err error
}

// presentedCaller is callerOf, once for each request.
func (s *Service) presentedCaller(ctx context.Context, authorization []string) (caller, error) {
	p := progressOf(ctx)
	if p.presented == nil {
		who, err := s.callerOf(ctx, authorization)
		p.presented = &presented{who, err}
	}
	return p.presented.who, p.presented.err
}

// callerOf returns the caller that a credential names, whatever they may do.
func (s *Service) callerOf(ctx context.Context, authorization []string) (caller, error) {
	if who, trusted := ctx.Value(trustedKey{}).(caller); trusted {
		return who, nil
	}
	if len(authorization) > 1 {
		return caller{}, invalidToken(api.TypeInvalidToken, "send one Authorization header; there are several")
	}
	scheme, token, _ := strings.Cut(strings.Join(authorization, ""), " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return caller{}, api.NewError(http.StatusUnauthorized, api.TypeNotAuthenticated, "send the header Authorization: Bearer <token>").
			At("header", "Authorization").With("WWW-Authenticate", "Bearer")
	}
	return s.callerOfToken(ctx, token)
}

// callerOfToken returns the caller of a bearer token.
func (s *Service) callerOfToken(ctx context.Context, presented string) (caller, error) {
	token, ok := parseServiceToken(presented)
	if !ok && s.tokens != nil && !strings.HasPrefix(presented, api.TokenPrefix+"_") {
		return s.callerOfAccessToken(ctx, presented)
	}
	if !ok {
		return caller{}, invalidToken(api.TypeInvalidToken, "the bearer token is malformed; was it copied whole?")
	}
	var account store.ServiceAccount
	err := s.store.View(ctx, func(r store.Reader) (err error) {
		account, err = r.ServiceAccountByPublicID(token.publicID)
		return err
	})
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return caller{}, err
	}
	// How long this takes tells nothing of the secret. That the public id is known
	// may show: it is no secret.
	known := subtle.ConstantTimeCompare(account.SecretHash, token.hash()) == 1
	if !known {
		return caller{}, unknownToken()
	}
	now := s.now()
	if err := checkServiceAccount(account, now); err != nil {
		return caller{}, err
	}
	s.lastUses.note(account, now)
	return caller{
		accountID: account.AccountID,
		subjects:  []store.Subject{{Type: vocab.SubjectServiceAccount, ID: account.ID}},
		name:      account.Name,
	}, nil
}

// checkServiceAccount returns the 401 for a token that no longer works.
func checkServiceAccount(a store.ServiceAccount, now time.Time) error {
	switch {
	case !a.RevokedAt.IsZero():
		return invalidToken(api.TypeTokenRevoked, "the token was revoked")
	case expired(a.ExpiresAt, now):
		return invalidToken(api.TypeTokenExpired, "the token has expired")
	}
	return nil
}

// expired reports whether a credential's expiry, zero for none, has passed.
func expired(at, now time.Time) bool { return !at.IsZero() && !now.Before(at) }

func unknownToken() error {
	return invalidToken(api.TypeInvalidToken, "no service account has this token")
}

// invalidToken refuses a token. What RFC 6750, section 3, does not allow in an
// error_description is left out of that.
func invalidToken(typ, msg string) *api.Error {
	description := strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			return -1
		}
		return c
	}, msg)
	return api.NewError(http.StatusUnauthorized, typ, "%s", msg).At("header", "Authorization").
		With("WWW-Authenticate", `Bearer error="invalid_token", error_description="`+description+`"`)
}
