// Package browsertest opens pages of a server in a headless browser and checks them as people perceive
// them: elements by their accessible names, no errors, no requests to other hosts.
package browsertest

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	browserlog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// browserVariable is the environment variable that makes the test fail without a browser.
const browserVariable = "MAILHOSTD_TEST_BROWSER"

// findBrowser returns the path of a browser. It skips the test if it finds none.
func findBrowser(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: without a browser")
	}
	names := []string{"chromium", "chromium-browser", "google-chrome"}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	end := t.Skipf
	if os.Getenv(browserVariable) == "required" {
		end = t.Fatalf
	}
	end("no browser is on PATH: %q", names)
	return ""
}

// Browser is a tab of a new browser for the pages of some servers.
type Browser struct {
	Ctx     context.Context
	servers []string

	mu sync.Mutex
	// foreign are requests to other hosts; complaints are errors on the console.
	foreign, complaints []string
}

// New starts a browser for a test.
func New(t *testing.T, servers ...string) *Browser {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(findBrowser(t)), chromedp.DisableGPU, chromedp.WindowSize(1000, 900),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.WSURLReadTimeout(time.Minute), // for a busy machine
	)
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	limit, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	t.Cleanup(cancel)
	allocator, end := chromedp.NewExecAllocator(limit, options...)
	t.Cleanup(end)
	ctx, _ := chromedp.NewContext(allocator)
	t.Cleanup(func() { _ = chromedp.Cancel(ctx) })
	b := &Browser{Ctx: ctx, servers: servers}
	assert.NilError(t, chromedp.Listen(ctx, b.note), "the browser does not start")
	return b
}

// note records foreign requests and console errors.
func (b *Browser) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		url := e.Request.URL
		known := slices.ContainsFunc(b.servers, func(server string) bool { return strings.HasPrefix(url, server+"/") })
		if !known && !strings.HasPrefix(url, "data:") {
			b.foreign = append(b.foreign, url)
		}
	case *runtime.EventExceptionThrown:
		b.complaints = append(b.complaints, (&chromedp.ExceptionError{ExceptionDetails: e.ExceptionDetails}).Error())
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			var text strings.Builder
			for _, arg := range e.Args {
				fmt.Fprintf(&text, "%s %s ", arg.Value, arg.Description)
			}
			b.complaints = append(b.complaints, text.String())
		}
	case *browserlog.EventEntryAdded:
		// Tests load pages with an error status on purpose.
		if e.Entry.Level == browserlog.EntryLevelError && !strings.Contains(e.Entry.Text, "responded with a status of") {
			b.complaints = append(b.complaints, e.Entry.Text)
		}
	}
}

// Clean checks that no foreign requests and no console errors occurred.
func (b *Browser) Clean(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	assert.Check(t, len(b.foreign) == 0 && len(b.complaints) == 0, "requests to other hosts: %q\nerrors on the console: %q", b.foreign, b.complaints)
}

// Do runs browser actions.
func (b *Browser) Do(t *testing.T, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	assert.NilError(t, chromedp.Do(b.Ctx, actions...))
}

// Evaluate returns the value of a JavaScript expression.
func Evaluate[T any](t *testing.T, b *Browser, expression string) T {
	t.Helper()
	v, err := chromedp.Run(b.Ctx, chromedp.Evaluate[T](expression))
	assert.NilError(t, err)
	return v
}

// Leads runs actions that load a page, and returns the page's status code.
func (b *Browser) Leads(t *testing.T, actions ...chromedp.Action[chromedp.Void]) (status int) {
	t.Helper()
	response, err := chromedp.RunResponse(b.Ctx, actions...)
	assert.NilError(t, err)
	return int(response.Status)
}

// WithoutJavaScript disables scripts.
func (b *Browser) WithoutJavaScript(t *testing.T) {
	t.Helper()
	_, err := chromedp.Call(b.Ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	assert.NilError(t, err)
}

// Accessible returns the elements of the accessibility tree by "role name".
func (b *Browser) Accessible(t *testing.T) map[string]*accessibility.Node {
	t.Helper()
	tree, err := chromedp.Call(b.Ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	assert.NilError(t, err)
	all := map[string]*accessibility.Node{}
	for _, node := range tree.Nodes {
		if !node.Ignored && node.Role != nil {
			all[strings.TrimSpace(text(node.Role)+" "+text(node.Name))] = node
		}
	}
	return all
}

func text(v *accessibility.Value) string {
	if v == nil {
		return ""
	}
	return strings.Trim(string(v.Value), `"`)
}

// Has checks that the page contains elements, each identified as "role name".
func (b *Browser) Has(t *testing.T, elements ...string) {
	t.Helper()
	all := b.Accessible(t)
	for _, want := range elements {
		assert.Check(t, all[want] != nil, "the page has no %s; it has %q", want, slices.Sorted(maps.Keys(all)))
	}
}

// WaitFor waits for a page with the element, to which the current page leads by itself.
func (b *Browser) WaitFor(t *testing.T, element string) {
	t.Helper()
	for b.Ctx.Err() == nil {
		if b.Accessible(t)[element] != nil {
			return
		}
	}
	t.Fatalf("no page with %s follows", element)
}

// Click clicks on the center of an element.
func (b *Browser) Click(t *testing.T, element string) chromedp.Action[chromedp.Void] {
	t.Helper()
	node := b.Accessible(t)[element]
	assert.Assert(t, node != nil, "the page has no %s", element)
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		id := node.BackendDOMNodeID
		if _, err := cdp.Call(ctx, target, dom.ScrollIntoViewIfNeeded, dom.ScrollIntoViewIfNeededParams{BackendNodeID: id}); err != nil {
			return err
		}
		box, err := cdp.Call(ctx, target, dom.GetBoxModel, dom.GetBoxModelParams{BackendNodeID: id})
		if err != nil {
			return err
		}
		corner, opposite := box.Model.Content[0:2], box.Model.Content[4:6]
		_, err = chromedp.MouseClickXY((corner[0]+opposite[0])/2, (corner[1]+opposite[1])/2)(ctx, target)
		return err
	})
}

// IsAccessible checks that the page declares a language, contains one heading equal to its title and a
// main landmark, and fits a small screen, such as a zoomed window.
func (b *Browser) IsAccessible(t *testing.T, title string) {
	t.Helper()
	b.Has(t, "main", "heading "+title)
	for expression, want := range map[string]string{
		"document.documentElement.lang":                    "en",
		"document.title.replace(' · mailhost', '')":        title,
		"String(document.querySelectorAll('h1').length)":   "1",
		"document.querySelector('main h1').textContent":    title,
		"String(document.querySelectorAll('main').length)": "1",
	} {
		assert.Check(t, is.Equal(Evaluate[string](t, b, expression), want), "%s of the page %s", expression, title)
	}
	b.Do(t, chromedp.EmulateViewport(320, 480))
	width := Evaluate[int](t, b, "document.documentElement.scrollWidth")
	assert.Check(t, width <= 320, "the page %s is %d pixels wide on a 320 pixel screen", title, width)
	b.Do(t, chromedp.ResetViewport())
}
