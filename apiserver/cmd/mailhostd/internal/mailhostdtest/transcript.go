package mailhostdtest

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
)

// Values that differ between runs are replaced by placeholders, which commands may use too.
var (
	masked      = regexp.MustCompile(`mhsa_[a-z0-9]+_\w+|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b\d{12,16}\b`)
	maskedTime  = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:\d\d)?|\d{8}T\d{6}`)
	maskedOther = regexp.MustCompile(`(?m)\[::\]:\d+|(localhost|127\.0\.0\.1):\d{5}\b|^clock .*|^disk .*MiB.*|\d+ bytes(; it had \d+)?|\bp=[\w+/]{43}=|\| [0-9a-f]{8}\b|[\d.,]+ ms\b|mhsa_\w+…|\.doctor-\d+|/[\w-]{43}\b|\.[0-9a-f]{16}\b|\d+ \w+ \d{4} at [\d:]+ UTC`)
	placeholder = regexp.MustCompile(`(ID|TOKEN|HOST)-\d+|ID\([^)]+\)`)
	argument    = regexp.MustCompile(`([^\s']|'[^']*')+`)
	columns     = regexp.MustCompile(`\S {2,}`)
)

// transcript runs the commands of a file.
type transcript struct {
	*testing.T
	dir     string
	real    map[string]string // by placeholder
	known   map[string]string // placeholders by value
	counts  map[string]int
	environ []string
	servers []*Server
	browser http.Client
	out     strings.Builder
}

// Transcript runs the commands of a file, each after "$ ", and compares their output with the lines that follow:
// stderr after "! ", and a nonzero exit code. With -update it writes these lines. A command with & at its end is a
// server; "$ stop" ends it and shows its log without requests. "$ export" sets the whole environment. Files are in
// DIR: "> NAME" begins the content of a file; "$ cat" and "$ ls" show files, with the mode of a database other than
// 0600. "$ GET" and "$ POST" with the fields of a form, or JSON, show a page in the session of the earlier pages. A
// comment begins with "//". A command refers to earlier output by a placeholder, or to an object by ID(word).
func Transcript(t *testing.T, path string) {
	t.Helper()
	t.Parallel()
	content, err := os.ReadFile(path)
	assert.NilError(t, err)
	r := &transcript{T: t, dir: t.TempDir(), real: map[string]string{}, known: map[string]string{}, counts: map[string]int{}}
	r.browser.Jar, _ = cookiejar.New(nil) // New returns no error
	r.browser.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	file, before := "", ""
	for line := range strings.Lines(string(content)) {
		command, isCommand := strings.CutPrefix(line, "$ ")
		name, isFile := strings.CutPrefix(line, "> ")
		switch {
		case isFile:
			file = filepath.Join(r.dir, strings.TrimSpace(name))
			WriteFile(t, file, "")
			r.out.WriteString(line)
		case isCommand:
			file = ""
			r.out.WriteString(line)
			r.run(argument.FindAllString(command, -1))
		case strings.HasPrefix(line, "//"):
			if !strings.HasPrefix(before, "//") {
				line = "\n" + line
			}
			file = ""
			r.out.WriteString(line)
		case file != "" && line != "\n":
			text, err := os.ReadFile(file)
			assert.NilError(t, err)
			WriteFile(t, file, string(text)+r.expand(line))
			r.out.WriteString(line)
		}
		before = strings.TrimPrefix(line, "\n")
	}
	got := strings.TrimLeft(r.out.String(), "\n")
	if golden.FlagUpdate() {
		assert.NilError(t, os.WriteFile(path, []byte(got), 0o644))
	} else if diff := cmp.Diff(strings.Split(string(content), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s differs; look at the difference, and write it with: go test -run %s -update\n%s", path, t.Name(), diff)
	}
}

func (r *transcript) run(words []string) {
	r.Helper()
	for i := range words {
		words[i] = r.expand(strings.ReplaceAll(words[i], "'", ""))
	}
	switch args := words[1:]; {
	case words[0] == "ls":
		entries, err := os.ReadDir(args[0])
		assert.NilError(r, err)
		for _, e := range entries {
			name := e.Name()
			if info, err := e.Info(); err == nil && strings.Contains(name, ".db") && info.Mode().Perm() != 0o600 {
				name += " " + info.Mode().String()
			}
			r.print("", name)
		}
	case words[0] == "cat":
		content, err := os.ReadFile(args[0])
		assert.NilError(r, err)
		r.print("", string(content))
	case words[0] == "export":
		r.environ = args
	case words[0] == "stop":
		last := len(r.servers) - 1
		s := r.servers[last]
		s.End(r.T)
		r.servers = r.servers[:last]
		for _, entry := range s.Log.Entries("") {
			if entry["msg"] != "request" {
				delete(entry, "time")
				delete(entry, "version")
				line, _ := json.Marshal(entry) // entry was decoded from JSON
				r.print("", string(line))
			}
		}
	case words[0] == http.MethodGet || words[0] == http.MethodPost:
		form, mediaType := url.Values{}, "application/x-www-form-urlencoded"
		for _, field := range args[1:] {
			name, value, _ := strings.Cut(field, "=")
			form.Set(name, value)
		}
		sent := form.Encode()
		if len(args) == 2 && strings.HasPrefix(args[1], "{") {
			sent, mediaType = args[1], "application/json"
		}
		resp, body := Send(r.T, &r.browser, words[0], args[0], sent, "Content-Type", mediaType)
		if resp.StatusCode/100 == 3 {
			body = ""
		}
		r.print("", fmt.Sprintln(resp.Status, resp.Header.Get("Location"))+pageText(body))
	case len(args) > 0 && args[len(args)-1] == "&":
		s := serve(r.T, r.environ, filepath.Join(r.dir, "mailhost.db"), args[1:len(args)-1]...)
		r.servers = append(r.servers, s)
		for _, e := range slices.Backward(s.Log.Entries("serving")) { // the server, its metrics and its control plane
			host := strings.TrimSuffix(strings.TrimPrefix(e["url"].(string), "http://"), "/metrics")
			delete(r.known, host) // an earlier server may have used the port
			r.mask(host, "HOST")
		}
	default:
		code, stdout, stderr := RunWith(r.T, r.environ, args...)
		r.print("", stdout)
		r.print("! ", stderr)
		if code != cli.ExitOK {
			fmt.Fprintf(&r.out, "exit code %d\n", code)
		}
	}
}

// The text of a page is its main part, with the targets of links and forms and the classes of chips.
var (
	pageMain  = regexp.MustCompile(`(?s)^.*<main[^>]*>|</main>.*$|<select.*?</select>`)
	pageLink  = regexp.MustCompile(`<(?:a|form) [^>]*(?:href|action)="([^"]*)"[^>]*>`)
	pageChip  = regexp.MustCompile(`<span class="chip (\w+)"[^>]*>`)
	pageBreak = regexp.MustCompile(`</(tr|p|h1|h2|li|div|dd|form|caption|option)>`)
	pageCell  = regexp.MustCompile(`</(td|th|dt)>`)
	pageTag   = regexp.MustCompile(`<[^>]*>`)
	pageSpace = regexp.MustCompile(`\s+`)
)

func pageText(page string) string {
	if !strings.Contains(page, "</main>") {
		return page
	}
	text := pageSpace.ReplaceAllString(pageMain.ReplaceAllString(page, ""), " ")
	text = pageChip.ReplaceAllString(pageLink.ReplaceAllString(text, "[$1]"), "($1) ")
	text = pageTag.ReplaceAllString(pageCell.ReplaceAllString(pageBreak.ReplaceAllString(text, "\n"), " | "), "")
	var b strings.Builder
	for line := range strings.Lines(html.UnescapeString(text)) {
		if line = strings.TrimSpace(line); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

func (r *transcript) expand(text string) string {
	text = placeholder.ReplaceAllStringFunc(text, r.value)
	return strings.ReplaceAll(text, "DIR", r.dir)
}

// value returns the value of a placeholder. ID(word) is the ID in the first line that contains both.
func (r *transcript) value(name string) string {
	id := name
	if word, ok := strings.CutPrefix(name, "ID("); ok {
		word = regexp.QuoteMeta(strings.TrimSuffix(word, ")"))
		id = regexp.MustCompile(`ID-\d+`).FindString(regexp.MustCompile(`ID-\d+.*` + word + `|` + word + `.*?ID-\d+`).FindString(r.out.String()))
	}
	assert.Check(r, r.real[id] != "", "a command names %s, which nothing before it has printed", name)
	return r.real[id]
}

// mask returns the placeholder for a value. It creates one for a new value.
func (r *transcript) mask(value, kind string) string {
	if r.known[value] == "" {
		r.counts[kind]++
		name := fmt.Sprintf("%s-%d", kind, r.counts[kind])
		r.known[value], r.real[name] = name, value
	}
	return r.known[value]
}

func (r *transcript) print(prefix, text string) {
	for value, name := range r.known {
		if strings.HasPrefix(name, "HOST") {
			text = strings.ReplaceAll(text, value, name)
		}
	}
	text = strings.ReplaceAll(text, r.dir, "DIR")
	text = masked.ReplaceAllStringFunc(text, func(value string) string {
		if strings.HasPrefix(value, "mhsa_") {
			return r.mask(value, "TOKEN")
		}
		return r.mask(value, "ID")
	})
	for value, name := range r.known { // the end of a token follows an id or an ellipsis
		if strings.HasPrefix(name, "TOKEN") {
			text = regexp.MustCompile(`(ID-\d+.*\b|…)`+value[len(value)-4:]+`\b`).ReplaceAllString(text, "${1}"+name+"-END")
		}
	}
	text = maskedOther.ReplaceAllString(maskedTime.ReplaceAllString(text, "TIME"), "OTHER")
	user := cli.SystemUser()
	text = strings.NewReplacer("operator "+user, "operator USER", user+" (operator)", "USER (operator)", `"`+user+`"`, `"USER"`).Replace(text)
	text = columns.ReplaceAllStringFunc(text, func(gap string) string { return gap[:1] + "  " })
	for line := range strings.Lines(text) {
		r.out.WriteString(prefix + strings.TrimRight(line, " \n") + "\n")
	}
}
