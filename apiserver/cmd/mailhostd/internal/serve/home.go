package serve

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/console"
)

// home is a middleware that leads browsers from the server's root to its console, or to
// the API reference if there is none. publicURL is the URL below which proxies pass
// requests on.
func home(publicURL string, withConsole bool) func(http.Handler) http.Handler {
	to := docsPath
	if withConsole {
		to = console.Path
	}
	u, _ := url.Parse(publicURL) // it was checked
	to = strings.TrimSuffix(u.EscapedPath(), "/") + to
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
				http.Redirect(w, r, to, http.StatusSeeOther)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}
