package apiclient_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/apiclient"
)

// TestProxyError checks that a proxy's own error is not mistaken for a wrong URL.
func TestProxyError(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{http.StatusBadGateway: "no server behind it is ready", http.StatusNotFound: "check the URL"} {
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<html>", status) }))
		defer proxy.Close()
		c := &apiclient.Client{AccountID: "a", Token: "t", URL: proxy.URL, HTTP: proxy.Client()}
		_, err := apiclient.Call(t.Context(), c, api.GetAccount, &api.InAccount{})
		assert.Check(t, err != nil && strings.Contains(err.Error(), want), "%d: %v; want %s", status, err, want)
	}
}

// TestHostileResponses checks that an API can't exhaust the memory, or make a list endless.
func TestHostileResponses(t *testing.T) {
	t.Parallel()
	hostile := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/workspaces") {
			_, _ = w.Write([]byte(`{"items":[{"id":"1"}],"page":1,"page_size":1,"total":3}`))
			return
		}
		_, _ = w.Write([]byte(`{"status":"` + strings.Repeat("a", 65<<20) + `"}`))
	}))
	defer hostile.Close()
	c := &apiclient.Client{AccountID: "a", Token: "t", URL: hostile.URL, HTTP: hostile.Client()}
	_, err := apiclient.Call(t.Context(), c, api.GetAccount, &api.InAccount{})
	assert.ErrorContains(t, err, "the response is not the API's")
	_, err = apiclient.Collect(apiclient.All(t.Context(), c, api.ListWorkspaces, &api.ListRequest{}))
	assert.ErrorContains(t, err, "ignores the parameter page")
}
