package serve

import (
	"embed"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/swaggest/swgui/v5emb"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/console"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/internal/httpapi"
)

type OpenAPICommand struct {
	PublishedOnly bool `help:"Leave out the lifecycle operations, which extend the published API."`
}

func (c OpenAPICommand) Run(p cli.Program) error {
	_, err := p.Stdout.Write(httpapi.Document(!c.PublishedOnly))
	return err
}

// The paths of the API reference: a page that shows the OpenAPI document, and the document.
const (
	docsPath    = "/docs"
	openAPIPath = "/openapi.json"
)

// docsCSP allows content of this server without inline scripts. Swagger UI uses icons in data URLs, and
// sets styles on elements.
const docsCSP = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

//go:embed docs
var docsFiles embed.FS

// docs maps paths of the API reference to their handlers. As middleware, its responses get a request id
// and a log line.
type docs map[string]http.Handler

// newDocs returns the reference of the operations that the server offers.
func newDocs(publishedOnly bool) docs {
	document := sync.OnceValue(func() http.Handler { // on first use, for a faster start
		return console.File("application/json", httpapi.Document(!publishedOnly))
	})
	d := docs{openAPIPath: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { document().ServeHTTP(w, r) })}
	for path, file := range map[string]struct{ mediaType, name string }{
		docsPath:               {"text/html; charset=utf-8", "index.html"},
		docsPath + "/page.css": {"text/css; charset=utf-8", "page.css"},
		docsPath + "/page.js":  {"text/javascript; charset=utf-8", "page.js"},
	} {
		content, _ := docsFiles.ReadFile("docs/" + file.name) // the file is embedded
		d[path] = console.File(file.mediaType, content)
	}
	swaggerUI := v5emb.New("", "", docsPath)
	for _, name := range []string{"swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png"} {
		d[docsPath+"/"+name] = swaggerUI
	}
	return d
}

func (d docs) middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, ok := d[r.URL.EscapedPath()]
		switch {
		case !ok:
			next.ServeHTTP(w, r)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			api.MethodNotAllowed(r.Method, "GET, HEAD").Write(w)
		default:
			header := w.Header()
			header.Set("Content-Security-Policy", docsCSP)
			header.Set("Referrer-Policy", "no-referrer")
			header.Set("Cache-Control", "no-cache")
			h.ServeHTTP(w, r)
		}
	})
}

// home redirects from the server's root to a page. A proxy forwards the requests below publicURL.
func home(publicURL, page string) http.Handler {
	u, _ := url.Parse(publicURL) // the URL was checked
	return http.RedirectHandler(strings.TrimSuffix(u.EscapedPath(), "/")+page, http.StatusSeeOther)
}
