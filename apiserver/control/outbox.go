package control

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"html/template"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/email"
)

var (
	//go:embed template/outbox.css
	outboxStyle string
	//go:embed template/outbox.html
	outboxHTML string

	outboxTemplate = template.Must(template.New("outbox").Funcs(template.FuncMap{
		"style": func() template.CSS { return template.CSS(outboxStyle) }, //nolint:gosec // the embedded style
		"date":  func(t time.Time) string { return t.UTC().Format(time.RFC1123Z) },
	}).Parse(outboxHTML))

	outboxCSP = "default-src 'none'; style-src 'sha256-" + styleHash + "'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	styleHash = func() string {
		sum := sha256.Sum256([]byte(outboxStyle))
		return base64.StdEncoding.EncodeToString(sum[:])
	}()
)

// messageCSP is for the HTML of a message. It runs no script, loads nothing, and opens links in a new tab.
const messageCSP = "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

// page is an HTML page, a response for people.
type page struct {
	csp  string
	html []byte
}

func (p page) write(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", p.csp)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(p.html) // the browser may have disconnected
}

// outboxPage returns the page with messages, the newest first. filtered means that there may be others.
func outboxPage(messages []email.Message, filtered bool) (any, error) {
	slices.Reverse(messages)
	var b bytes.Buffer
	err := outboxTemplate.Execute(&b, map[string]any{"Messages": messages, "Filtered": filtered})
	return page{outboxCSP, b.Bytes()}, err
}

// messageHTML returns the HTML part of a message, for a frame of the page.
func (h server) messageHTML(r *http.Request) (any, error) {
	for _, m := range h.service.Outbox() {
		if m.ID == r.PathValue("id") {
			return page{messageCSP, []byte(strings.Replace(m.HTML, "<head>", `<head><base target="_blank">`, 1))}, nil
		}
	}
	return nil, &httpError{http.StatusNotFound, errors.New("the outbox has no such message")}
}

// prefersHTML reports whether a request is from a browser: its Accept header lists HTML, and JSON not before it.
func prefersHTML(r *http.Request) bool {
	quality := map[string]float64{}
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		mediaType, params, err := mime.ParseMediaType(part)
		q, qErr := strconv.ParseFloat(params["q"], 64)
		if qErr != nil {
			q = 1
		}
		if err == nil {
			quality[mediaType] = q
		}
	}
	return quality["text/html"] > max(quality["application/json"], quality["application/*"])
}
