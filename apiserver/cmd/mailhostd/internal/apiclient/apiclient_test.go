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

// TestProxyError checks that a proxy's own error is not taken for a wrong URL.
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
