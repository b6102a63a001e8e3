package access_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/commands"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
)

// login runs mailhostd login. browse opens the page that the command shows.
func login(t *testing.T, browse bool, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	shown, write := io.Pipe()
	var out, all bytes.Buffer
	done := make(chan struct{})
	go func() {
		defer close(done)
		lines := bufio.NewScanner(shown)
		for lines.Scan() {
			all.WriteString(lines.Text() + "\n")
			page := regexp.MustCompile(`http://\S+/auth\?\S+`).FindString(lines.Text())
			if browse && page != "" {
				visit(ctx, t, page)
			}
		}
	}()
	p := cli.Program{Args: append([]string{"login"}, args...), Stdout: &out, Stderr: write}
	code = commands.Run(ctx, p)
	_ = write.Close()
	<-done
	return code, strings.TrimSpace(out.String()), all.String()
}

// visit opens a page like a browser, and follows its redirects. It first sends a request to the command
// like another site, which must change nothing.
func visit(ctx context.Context, t *testing.T, page string) {
	u, err := url.Parse(page)
	if err != nil {
		t.Error(err)
		return
	}
	for _, address := range []string{u.Query().Get("redirect_uri") + "?code=stolen&state=guessed", page} {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
		if err != nil {
			t.Error(err)
			return
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Error(err)
			return
		}
		_ = resp.Body.Close()
		want := map[bool]int{true: http.StatusOK, false: http.StatusBadRequest}[address == page]
		assert.Check(t, resp.StatusCode == want, "%s: status %d, want %d", address, resp.StatusCode, want)
	}
}

// TestLogin signs a person in for a server and uses the token, and then signs in again without the
// person.
func TestLogin(t *testing.T) {
	t.Parallel()
	i := mailhostdtest.NewIssuer(t)
	database, owner := mailhostdtest.Initialize(t)
	s := mailhostdtest.Serve(t, database, "--oauth-issuer", i.URL, "--oauth-audience", "mailhost", "--oauth-client-id", "cli", "--oauth-scopes", "openid,mail")
	tokens := filepath.Join(t.TempDir(), "new", "tokens.json")
	args := []string{"--base-url", s.URL, "--tokens", tokens}
	use := func(token string, status int) {
		t.Helper()
		c := s.As(t, owner)
		c.Token = token
		c.Get("/mailboxes").Want(status)
	}

	code, first, stderr := login(t, true, args...)
	assert.Assert(t, code == cli.ExitOK && first != "" && !strings.Contains(stderr, first), "exit code %d, stdout %q, stderr\n%s", code, first, stderr)
	use(first, http.StatusForbidden)
	mailhostdtest.RunJSON[any](t, nil, "grant", "add", "--user", "jane", "--grant", "account_owner", "--database", database)
	use(first, http.StatusOK)

	_, again, _ := login(t, false, args...)
	assert.Check(t, again == first, "a second login printed another token")
	code, token, stderr := login(t, false, "--base-url", s.URL+"/", "--tokens", tokens)
	assert.Check(t, code == cli.ExitOK && token == first, "with a slash after the URL: exit code %d, %s", code, stderr)
	// A token is for one API, even if another API names the same client.
	imitation := hostileAPI(t, map[string]string{"issuer": i.URL})
	code, token, stderr = login(t, false, "--base-url", imitation, "--tokens", tokens, "--scope", "openid,mail", "--timeout", "1ms")
	assert.Check(t, code == cli.ExitFailure && token == "", "another API got a token: exit code %d, %s", code, stderr)
	_, refreshed, stderr := login(t, false, append(args, "--valid-for", "2h")...)
	assert.Check(t, refreshed != first && !strings.Contains(stderr, "Sign in"), "a token that ends too early was not refreshed in silence: %s", stderr)
	use(refreshed, http.StatusOK)

	i.Set(func() { i.Refresh = "" }) // the session ended
	code, token, stderr = login(t, true, append(args, "--valid-for", "2h")...)
	assert.Check(t, code == cli.ExitOK && token != refreshed, "after the end of the session: exit code %d, %s", code, stderr)
	mailhostdtest.Fails(t, nil, cli.ExitFailure, "new", "logout", "--tokens", filepath.Dir(tokens)) // a folder that is not empty
	code, _, _ = mailhostdtest.Run(t, "logout", "--tokens", tokens)
	assert.Check(t, code == cli.ExitOK, "logout: exit code %d", code)
	mailhostdtest.WriteFile(t, tokens, "[{}]") // the form of 0.1.0 holds no token
	code, device, stderr := login(t, false, append(args, "--device")...)
	if code != cli.ExitOK || !strings.Contains(stderr, "/activate") || !strings.Contains(stderr, "ABCD-EFGH") || strings.Contains(stderr, "or open") {
		t.Errorf("--device: exit code %d, %s", code, stderr)
	}
	use(device, http.StatusOK)
	got := strings.Join(i.Grants, " ")
	assert.Check(t, got == "authorization_code refresh_token authorization_code urn:ietf:params:oauth:grant-type:device_code", "the tokens came from %s", got)
	info := modeOf(t, tokens)
	assert.Check(t, info == 0o600, "the file with the tokens has mode %o", info)
}

// TestLoginNamesTheAPI signs in at an issuer that returns a token for an API only if each request names
// the API, and a refresh token only after the person's consent.
func TestLoginNamesTheAPI(t *testing.T) {
	t.Parallel()
	i := mailhostdtest.NewIssuer(t)
	i.Set(func() { i.Resource = "https://mail-api.example.com" })
	database, owner := mailhostdtest.Initialize(t)
	flags := []string{"--oauth-issuer", i.URL, "--oauth-audience", "mailhost", "--oauth-client-id", "cli", "--oauth-scopes", "openid,mail,offline_access"}
	silent := mailhostdtest.Serve(t, database, flags...)
	s := mailhostdtest.Serve(t, database, append(flags, "--oauth-parameters", "resource=https://mail-api.example.com")...)
	tokens := filepath.Join(t.TempDir(), "tokens.json")

	code, stdout, stderr := login(t, true, "--base-url", silent.URL, "--tokens", tokens)
	assert.Check(t, code == cli.ExitFailure && stdout == "" && strings.Contains(stderr, "is not a JWT"), "an opaque token: exit code %d, stdout %q, stderr %s", code, stdout, stderr)
	args := []string{"--base-url", s.URL, "--tokens", tokens, "--account-id", owner.AccountID}
	if code, stdout, stderr := login(t, true, args...); code != cli.ExitFailure || stdout != "" || !strings.Contains(stderr, "asks for a token for another API, resource=") {
		t.Errorf("an API that names another one: exit code %d, stdout %q, stderr %s", code, stdout, stderr)
	}
	args = append(args, "--parameter", "resource=https://mail-api.example.com")
	code, first, stderr := login(t, true, args...)
	assert.Check(t, code == cli.ExitOK && strings.Contains(stderr, "mailhostd grant add --user jane"), "without a grant: exit code %d, stderr %s", code, stderr)
	mailhostdtest.RunJSON[any](t, nil, "grant", "add", "--user", "jane", "--grant", "account_owner", "--database", database)
	code, refreshed, stderr := login(t, false, append(args, "--valid-for", "2h")...)
	if code != cli.ExitOK || refreshed == first || !strings.Contains(stderr, "less than --valid-for 2h") || strings.Contains(stderr, "grant add") {
		t.Errorf("after a refresh: exit code %d, stderr %s", code, stderr)
	}
	c := s.As(t, owner)
	c.Token = refreshed
	c.Get("/mailboxes").Want(http.StatusOK)
	code, _, stderr = login(t, true, append(args, "--parameter", "state=guessed")...)
	assert.Check(t, code == cli.ExitUsage && strings.Contains(stderr, "can't be chosen"), "a parameter of the flow: exit code %d, stderr %s", code, stderr)
}

func TestLoginErrors(t *testing.T) {
	t.Parallel()
	i := mailhostdtest.NewIssuer(t)
	database, _ := mailhostdtest.Initialize(t)
	plain := mailhostdtest.Serve(t, database)
	unnamed := mailhostdtest.Serve(t, database, "--oauth-issuer", i.URL, "--oauth-audience", "mailhost")
	tokens := filepath.Join(t.TempDir(), "tokens.json")
	for _, tt := range []struct {
		args string
		code int
		want string
	}{
		{"", cli.ExitUsage, "--base-url: is required"},
		{"--base-url mail.example.com", cli.ExitUsage, "--base-url: must be an http or https URL"},
		{"--base-url " + plain.URL, cli.ExitFailure, "accepts no OAuth tokens"},
		{"--base-url " + unnamed.URL, cli.ExitFailure, "name it with --client-id"},
		{"--issuer http://login.example.com --client-id cli", cli.ExitFailure, "plain http is only allowed for this machine"},
		{"--issuer " + i.URL + " --client-id cli --scope openid,mail --timeout 50ms", cli.ExitFailure, "nobody has signed in in time"},
	} {
		code, stdout, stderr := login(t, false, append(strings.Fields(tt.args), "--tokens", tokens)...)
		assert.Check(t, code == tt.code && stdout == "" && strings.Contains(stderr, tt.want), "%s: exit code %d, stdout %q, stderr %s", tt.args, code, stdout, stderr)
	}
}

// TestLoginDistrustsServers checks that neither an API nor an issuer can make the command open another
// program, send a code elsewhere, sign in for another API, or change the terminal.
func TestLoginDistrustsServers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change map[string]string
		device bool
		want   string
	}{
		{"a page that is none", map[string]string{"authorization_endpoint": "file://evil.example/share/x.exe"}, false, "authorization_endpoint \"file:"},
		{"a token endpoint without TLS", map[string]string{"token_endpoint": "http://evil.example/token"}, false, "plain http is only allowed for this machine"},
		{"a device endpoint without TLS", map[string]string{"device_authorization_endpoint": "http://evil.example/device"}, true, "plain http is only allowed for this machine"},
		{"no token endpoint", map[string]string{"token_endpoint": ""}, false, "token_endpoint \"\": it must be an https URL"},
		{"another API", map[string]string{"resource": "https://mail.example.com"}, false, `says that it is the API at "https://mail.example.com"`},
		{"no API", map[string]string{"resource": ""}, false, `says that it is the API at ""`},
		{"a token for another API", map[string]string{"audience": "https://mail.example.com/\x1b[2J"}, false, `asks for a token for another API, audience="https://mail.example.com/\x1b[2J"`},
		{"a scope of another API", map[string]string{"scope": "api://0b9f4d5e/.default"}, false, `asks for a token for another API, by the scope "api://0b9f4d5e/.default"`},
		{"a request object", map[string]string{"parameter": "request"}, false, "the parameter request can't be chosen"},
		{"an issuer with control characters", map[string]string{"issuer": "https://login.example.com\x1b[2J"}, false, `https://login.example.com\u001b[2J: it must be`},
		{"a redirect", map[string]string{"redirect": "/elsewhere"}, true, "the issuer responds with 307"},
		{"a code with control characters", map[string]string{"user_code": "A\x1b[2JB"}, true, `enter the code "A\x1b[2JB"`},
		{"a page with control characters", map[string]string{"verification_uri": "https://x\x1b]0;x\x07"}, true, `Open "https://x\x1b]0;x\a"`},
		{"a full URL with control characters", map[string]string{"verification_uri_complete": "https://x\u202e"}, true, `or open "https://x\u202e"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			args := []string{"--base-url", hostileAPI(t, tt.change), "--tokens", filepath.Join(t.TempDir(), "tokens.json"), "--timeout", "10s"}
			if tt.device {
				args = append(args, "--device")
			}
			code, stdout, stderr := login(t, false, args...)
			if code != cli.ExitFailure || stdout != "" || !strings.Contains(stderr, tt.want) || strings.ContainsAny(stderr, "\x1b\x07\u202e") {
				t.Errorf("exit code %d, stdout %q, stderr %q; want %q", code, stdout, stderr, tt.want)
			}
		})
	}
}

// hostileAPI starts an API that is its own issuer and lets no person sign in. It returns the API's URL.
// change sets fields of its documents.
func hostileAPI(t *testing.T, change map[string]string) (address string) {
	t.Helper()
	respond := func(names ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			document := map[string]any{"mailhost_parameters": map[string]string{"audience": change["audience"], cmp.Or(change["parameter"], "audience"): change["audience"]}, "mailhost_client_id": "cli", "expires_in": 60, "interval": 1, "device_code": "dc"}
			if scope := change["scope"]; scope != "" {
				document["scopes_supported"] = []string{"openid", "read:mail", address + "/own " + scope}
			}
			for _, name := range names {
				value, changed := change[name]
				if !changed {
					value = address + "/" + name
				}
				if name == "resource" || name == "issuer" {
					value = strings.TrimSuffix(value, "/"+name)
				}
				document[name] = value
				if name == "issuer" {
					document["authorization_servers"] = []string{value}
				}
			}
			_ = json.NewEncoder(w).Encode(document)
		}
	}
	mux := http.NewServeMux()
	mux.Handle("GET /.well-known/oauth-protected-resource", respond("resource", "issuer"))
	mux.Handle("GET /.well-known/openid-configuration", respond("issuer", "authorization_endpoint", "token_endpoint", "device_authorization_endpoint", "jwks_uri"))
	device := respond("user_code", "verification_uri", "verification_uri_complete")
	mux.Handle("POST /elsewhere", device)
	mux.HandleFunc("POST /device_authorization_endpoint", func(w http.ResponseWriter, r *http.Request) {
		if to := change["redirect"]; to != "" {
			http.Redirect(w, r, to, http.StatusTemporaryRedirect)
			return
		}
		device(w, r)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	address = server.URL
	return address
}

func modeOf(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	assert.NilError(t, err)
	return info.Mode().Perm()
}
