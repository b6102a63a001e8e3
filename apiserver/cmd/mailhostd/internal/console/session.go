package console

import (
	"errors"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/identity"
)

const lifetime = 12 * time.Hour

const sessionCookie = "mailhost_console"

const hostPrefix = "__Host-"

// setCookie sets a cookie that browsers send when a link leads from another site, such as the issuer, to the
// console, but not with a form of another site. With the prefix __Host- browsers accept it only from this
// host, over TLS. maxAge is in seconds; 0 means until the browser is closed, and -1 removes the cookie.
func (c *Console) setCookie(w http.ResponseWriter, r *http.Request, name, content string, maxAge int) {
	ck := &http.Cookie{Name: name, Value: content, Path: c.base, MaxAge: maxAge, HttpOnly: true, SameSite: http.SameSiteLaxMode}
	if c.secure || r.TLS != nil {
		ck.Name, ck.Path, ck.Secure = hostPrefix+name, "/", true
	}
	http.SetCookie(w, ck)
}

// readCookie returns the content of a cookie, or "".
func (c *Console) readCookie(r *http.Request, name string) string {
	if c.secure || r.TLS != nil {
		name = hostPrefix + name
	}
	ck, err := r.Cookie(name)
	if err != nil {
		return ""
	}
	return ck.Value
}

var errNoSession = errors.New("no session")

// openSession returns the session of a request. The error is errNoSession for a request without one.
func (c *Console) openSession(r *http.Request) (identity.Session, error) {
	sealed := c.readCookie(r, sessionCookie)
	if sealed == "" {
		return identity.Session{}, errNoSession
	}
	return c.service.Session(r.Context(), sealed)
}

// reasons explain on the sign-in page why a session ended, by the type of the API's error.
var reasons = map[string]string{
	api.TypeTokenExpired: "Your session has ended. Sign in again.",
	api.TypeTokenRevoked: "Your token was revoked. Sign in with another one.",
	api.TypeInvalidToken: "Your session is no longer valid. Sign in again.",
	// A user of the OAuth issuer without any grant.
	api.TypePermissionDenied: "The account no longer gives you any rights. Ask one of its administrators.",
	"signed_out":             "You have signed out.",
}

// sendToSignIn responds to a request without a valid session.
func (c *Console) sendToSignIn(w http.ResponseWriter, r *http.Request, err error) {
	var reason, next string
	if !errors.Is(err, errNoSession) {
		f := failureOf(err)
		if f.Status != http.StatusUnauthorized && f.Status != http.StatusForbidden { // for instance the store is unavailable
			c.write(w, r, c.errorView(r, err))
			return
		}
		c.setCookie(w, r, sessionCookie, "", -1)
		reason = f.Type
	}
	if p := r.URL.RequestURI(); r.Method == http.MethodGet && p != Path {
		next = strings.TrimPrefix(p, Path)
	}
	c.redirect(w, r, "/sign-in"+queryOf("next", next, "reason", reason))
}

// beginSession stores a new session in the browser, and ends the one that it replaces.
func (c *Console) beginSession(w http.ResponseWriter, r *http.Request, sealed string) {
	if err := c.endSession(r); err != nil { // does not keep anybody from signing in
		c.log.Warn("the browser's earlier session can't be ended", "request_id", requestID(r), "error", err)
	}
	c.setCookie(w, r, sessionCookie, sealed, 0)
}

// endSession ends the session of a request, also in copies of its cookie.
func (c *Console) endSession(r *http.Request) error {
	if sealed := c.readCookie(r, sessionCookie); sealed != "" {
		return c.service.SignOut(r.Context(), sealed)
	}
	return nil
}

type signInForm struct {
	Message, Error, Next string
	// Issuer is the host of the OAuth issuer, or empty without an issuer.
	Issuer string
	// Start is the link to the issuer.
	Start string
}

func (c *Console) showSignIn(w http.ResponseWriter, r *http.Request) {
	if _, err := c.openSession(r); err == nil {
		c.redirect(w, r, "")
		return
	}
	query := r.URL.Query()
	c.writeSignIn(w, r, http.StatusOK, signInForm{Message: reasons[query.Get("reason")], Next: query.Get("next")})
}

func (c *Console) writeSignIn(w http.ResponseWriter, r *http.Request, status int, form signInForm) {
	if c.issuer != nil {
		form.Issuer, form.Start = c.issuerName(), c.base+"/sign-in/start"+queryOf("next", form.Next)
	}
	c.write(w, r, view{Status: status, Template: "sign-in.html", Title: "Sign in", Data: form})
}

// maxForm limits a request body, in bytes.
const maxForm = 16 << 10

// formValue returns a field of a form, or "" for an unreadable form. It ignores multipart forms, because
// their files would be written to disk.
func formValue(r *http.Request, name string) string {
	if err := r.ParseForm(); err != nil {
		return ""
	}
	return r.PostForm.Get(name)
}

func (c *Console) signIn(w http.ResponseWriter, r *http.Request) {
	next := formValue(r, "next")
	sealed, err := c.service.SignIn(r.Context(), strings.TrimSpace(formValue(r, "token")), r.RemoteAddr, lifetime)
	if err != nil {
		f := failureOf(err)
		c.writeSignIn(w, r, f.Status, signInForm{Error: "That did not work: " + f.Message, Next: next})
		return
	}
	c.beginSession(w, r, sealed)
	c.redirect(w, r, pageOf(next))
}

// pageOf returns the console page at next, or the overview if next leads elsewhere.
func pageOf(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "" || u.Host != "" || path.Clean(u.Path) != u.Path || !strings.HasPrefix(u.Path, "/") {
		return ""
	}
	return u.EscapedPath() + strings.TrimSuffix("?"+u.Query().Encode(), "?")
}

func (c *Console) signOut(w http.ResponseWriter, r *http.Request) {
	c.setCookie(w, r, sessionCookie, "", -1)
	if err := c.endSession(r); err != nil {
		c.write(w, r, c.errorView(r, err))
		return
	}
	c.redirect(w, r, "/sign-in"+queryOf("reason", "signed_out"))
}

func (c *Console) redirect(w http.ResponseWriter, r *http.Request, to string) {
	http.Redirect(w, r, c.base+to, http.StatusSeeOther)
}
