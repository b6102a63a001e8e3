package httpapi

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"net/http"
)

// templates are the pages and messages for people.
//
//go:embed template
var templates embed.FS

// pageStyle is in every page, and pageCSP lets it and nothing else in: no
// script, no image, nothing of another origin.
var (
	pageStyle = readTemplate("page.css")
	pageCSP   = "default-src 'none'; style-src '" + hashSource(pageStyle) + "'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

func readTemplate(name string) string {
	text, err := templates.ReadFile("template/" + name)
	if err != nil {
		panic("apiserver: " + err.Error())
	}
	return string(text)
}

// hashSource names an inline style or script in a Content-Security-Policy.
func hashSource(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// newPage returns the template of a page with that content.
func newPage(content string) *template.Template {
	style := func() template.CSS { return template.CSS(pageStyle) } //nolint:gosec // it is our own
	return template.Must(template.New("page.html").Funcs(template.FuncMap{"style": style}).
		ParseFS(templates, "template/page.html", "template/"+content))
}

// pages serves the pages for people. They need no credential but the link itself.
func (h *Handler) pages(mux *http.ServeMux) {
	h.verificationPages(mux)
	h.paymentPages(mux)
}

// writePage writes a page, which no cache may keep and no other site may frame.
func (h *Handler) writePage(w http.ResponseWriter, r *http.Request, status int, page *template.Template, data any) {
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", pageCSP)
	header.Set("Cache-Control", "no-store")
	header.Set("Referrer-Policy", "no-referrer")
	w.WriteHeader(status)
	if err := page.Execute(w, data); err != nil && r.Context().Err() == nil {
		h.log.Error("page not written", "request_id", requestID(r.Context()), "page", page.Name(), "error", err)
	}
}

// pageFailed logs why a page could not be read.
func (h *Handler) pageFailed(r *http.Request, err error) {
	if r.Context().Err() == nil { // nobody waits for it any more
		h.log.Error("page failed", "request_id", requestID(r.Context()), "error", err)
	}
}
