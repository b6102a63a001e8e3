// Package console serves the pages at /console, on which people see their account in a browser.
//
// Each page calls operations of the API in process, with the token or the access token of its visitor (call.go),
// and shows the API's own errors. The package therefore contains no rules and no SQL, and a page never shows
// more than the API. A session (session.go) is a cookie that any process on the same database can open.
//
// Pages require no JavaScript. Their security policy allows no scripts, and nothing from other origins.
//
//	console.go, call.go, view.go               routes, calls of the API, output
//	session.go, issuer.go                      sign-in with a token, or at an OAuth issuer
//	overview.go, domains.go, …                 the pages, with their templates in template/
//	requests.go                                the last requests to this server
package console

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/apiclient"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/signin"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/identity"
)

// Path is the path of the console.
const Path = "/console"

// Options configures a Console.
type Options struct {
	// PublicURL is the server's own URL, with the scheme http or https and a host.
	PublicURL string
	Clock     func() time.Time
	Log       *slog.Logger
	// Issuer is for sign-in without a service account token; nil means no issuer. New sets its
	// RedirectURL.
	Issuer *signin.Website
}

// Console serves the pages. It is safe for concurrent use after Start.
type Console struct {
	service *apiserver.Service
	issuer  *signin.Website // nil: tokens alone
	log     *slog.Logger
	clock   func() time.Time
	// base is Path below the path of the server's public URL, for links.
	base      string
	secure    bool
	mux       *http.ServeMux
	crossSite *http.CrossOriginProtection
	requests  *requestLog
}

// New returns a Console. It serves nothing before Start.
func New(o Options) *Console {
	u, _ := url.Parse(o.PublicURL) // the URL was checked
	c := &Console{
		issuer: o.Issuer, log: o.Log, clock: o.Clock, base: strings.TrimSuffix(u.EscapedPath(), "/") + Path, secure: u.Scheme == "https",
		mux: http.NewServeMux(), crossSite: http.NewCrossOriginProtection(), requests: new(requestLog),
	}
	_ = c.crossSite.AddTrustedOrigin(u.Scheme + "://" + u.Host) // a proxy may change the Host header
	if c.issuer != nil {
		c.issuer.RedirectURL = o.PublicURL + Path + "/sign-in/return"
	}
	c.routes()
	return c
}

// Start connects the console with its service. It must be called before the first request.
func (c *Console) Start(s *apiserver.Service) { c.service = s }

func (c *Console) routes() {
	c.mux.HandleFunc("GET "+Path+"/sign-in", c.showSignIn)
	c.mux.HandleFunc("POST "+Path+"/sign-in", c.signIn)
	c.mux.HandleFunc("POST "+Path+"/sign-out", c.signOut)
	if c.issuer != nil {
		c.mux.HandleFunc("GET "+Path+"/sign-in/start", c.startAtIssuer)
		c.mux.HandleFunc("GET "+Path+"/sign-in/return", c.returnFromIssuer)
		c.mux.Handle("GET "+Path+"/accounts", c.signedIn(listAccounts))
		c.mux.Handle("POST "+Path+"/accounts", c.signedIn(switchAccount))
	}
	for name, mediaType := range map[string]string{"style.css": "text/css; charset=utf-8", "icon.svg": "image/svg+xml"} {
		content, _ := files.ReadFile(name) // the file is embedded
		c.mux.Handle("GET "+Path+"/"+name, File(mediaType, content))
	}
	for _, s := range sections() {
		c.mux.Handle("GET "+Path+s.Path, c.signedIn(s.page))
	}
	for pattern, p := range map[string]page{
		"GET /domains/{domain}":        showDomain,
		"GET /mailboxes/{mailbox}":     showMailbox,
		"POST /forwarding/{id}/resend": resendVerification,
		"GET /tokens/{id}":             showToken,
		"GET /tokens/{id}/revoke":      confirmTokenRevocation,
		"POST /tokens/{id}/revoke":     revokeToken,
		"GET /grants/{id}/revoke":      confirmGrantRevocation,
		"POST /grants/{id}/revoke":     revokeGrant,
		"GET /{path...}":               func(*visit) (view, error) { return view{}, notFound("There is no such page.") },
	} {
		method, path, _ := strings.Cut(pattern, " ")
		c.mux.Handle(method+" "+Path+path, c.signedIn(p))
	}
}

// Middleware serves the console. It passes other requests to next, and records them for the page Requests.
func (c *Console) Middleware(next http.Handler) http.Handler {
	pages := c.crossSite.Handler(c.mux)
	recorded := c.requests.middleware(next, c.clock)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := r.URL.EscapedPath()
		if p == Path+"/" {
			http.Redirect(w, r, c.base, http.StatusPermanentRedirect)
			return
		}
		if p != Path && !strings.HasPrefix(p, Path+"/") || path.Clean(r.URL.Path) != r.URL.Path { // the API serves no unclean paths either
			recorded.ServeHTTP(w, r)
			return
		}
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		// Other sites get no referrer. With no-referrer, browsers would send forms with the Origin null.
		h.Set("Referrer-Policy", "same-origin")
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		pages.ServeHTTP(w, r)
	})
}

//go:embed style.css icon.svg template
var files embed.FS

// File serves a file. A browser may cache it until it changes.
func File(mediaType string, content []byte) http.Handler {
	sum := sha256.Sum256(content)
	tag := `"` + hex.EncodeToString(sum[:16]) + `"`
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", mediaType)
		h.Set("Cache-Control", "no-cache")
		h.Set("Etag", tag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	})
}

// page returns the view for a request of a signed-in person.
type page func(*visit) (view, error)

// visit is a request of a signed-in person.
type visit struct {
	*Console
	*http.Request
	response http.ResponseWriter
	session  identity.Session
	api      *apiclient.Client
	names    names
}

// signedIn serves a page to a browser with a session, and the sign-in page to others.
func (c *Console) signedIn(p page) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		session, err := c.openSession(r)
		if err != nil {
			c.sendToSignIn(w, r, err)
			return
		}
		v := &visit{Console: c, Request: r, response: w, session: session, api: c.clientFor(r, session)}
		v.names = names{apiclient.NewNames(r.Context(), v.api)}
		out, err := p(v)
		if f := failureOf(err); f != nil && f.Status == http.StatusUnauthorized {
			c.sendToSignIn(w, r, err)
			return
		}
		if err != nil {
			out = c.errorView(r, err)
		}
		out.Session, out.Names, out.Path, out.Query = &session, v.names, r.URL.Path, r.URL.Query()
		c.write(w, r, out)
	})
}

// requestID returns the id of a request in the log and the audit log.
func requestID(r *http.Request) string { return apiserver.RequestOf(r.Context()).ID }
