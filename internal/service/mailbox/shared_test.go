package mailbox_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/internal/acctest"
)

// TestSharedReadsSeeOtherCommands changes mailboxes between two commands that read them
// all, ten at a time, through one configured provider. The second command must not return values
// from before its start, whoever changed them and however the command reads.
func TestSharedReadsSeeOtherCommands(t *testing.T) {
	t.Parallel()
	const mailboxes, commands = 55, 2
	same := func(p *acctest.Protocol) *acctest.Protocol { return p }
	for _, c := range []struct {
		name      string
		next      func(*acctest.Protocol) *acctest.Protocol // begins a command
		resources bool                                      // whether it refreshes resources
		data      bool                                      // whether it reads data sources
		published bool                                      // operations only
		lists     bool                                      // whether lists are expected in place of reads
	}{
		{"plan", (*acctest.Protocol).Walk, true, true, false, true},
		{"plan of an API without reads", (*acctest.Protocol).Walk, true, true, true, true},
		{"apply", (*acctest.Protocol).Walk, false, true, false, false},
		{"apply in one session", same, false, true, false, false},
		{"terraform test", (*acctest.Protocol).TestFile, true, true, false, false},
		{"terraform test of an API without reads", (*acctest.Protocol).TestFile, true, false, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := acctest.NewServer(t, acctest.Options{PublishedOnly: c.published})
			s.Domain(t, "example.com")
			var lists atomic.Int32
			p := s.Protocol(t, s.Front(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if strings.HasSuffix(r.URL.Path, "/mailboxes") {
					lists.Add(1)
				}
				next.ServeHTTP(w, r)
			}))
			objects := make([]*acctest.Object, mailboxes)
			for i := range objects {
				m := s.Mailbox(t, "example.com", fmt.Sprintf("m%d", i))
				o, diags := p.Import(typeName, m.ID, nil)
				p.NoErrors(diags)
				objects[i] = o
			}
			for command := range commands {
				want := fmt.Sprintf("Name%d", command)
				for _, o := range objects {
					_, err := s.Client.UpdateMailbox(t.Context(), o.Text("id"), api.UpdateMailboxBody{FirstName: &want})
					assert.NilError(t, err)
				}
				lists.Store(0)
				p = c.next(p)
				read := func(how string, get func(*acctest.Object) (*acctest.Object, []*tfprotov6.Diagnostic)) {
					slots, wg := make(chan struct{}, 10), sync.WaitGroup{}
					for i, o := range objects {
						slots <- struct{}{}
						wg.Go(func() {
							defer func() { <-slots }()
							got, diags := get(o)
							p.NoErrors(diags)
							assert.Check(t, got.Text("first_name") == want, "command %d, %s: mailbox %d is %q, want %q", command, how, i, got.Text("first_name"), want)
						})
					}
					wg.Wait()
				}
				if c.resources {
					read("resource", func(o *acctest.Object) (*acctest.Object, []*tfprotov6.Diagnostic) { return p.Read(typeName, o) })
				}
				if c.data {
					read("data source", func(o *acctest.Object) (*acctest.Object, []*tfprotov6.Diagnostic) {
						return p.ReadData(typeName, map[string]any{"id": o.Text("id")})
					})
				}
				n := lists.Load()
				assert.Check(t, (n > 0) == c.lists, "command %d: %d lists", command, n)
			}
		})
	}
}
