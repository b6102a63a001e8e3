package processtest

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
)

// TestServersOnOneFile checks that two servers of one machine may share an SQLite file: no
// change is lost, and a revocation holds on both at once.
func TestServersOnOneFile(t *testing.T) {
	t.Parallel()
	database, owner := mailhostdtest.Initialize(t)
	servers := []*mailhostdtest.Server{mailhostdtest.Spawn(t, database), mailhostdtest.Spawn(t, database)}
	servers[0].As(t, owner).Domain("example.com")
	const each = 40
	var writing sync.WaitGroup
	for i, s := range servers {
		as := s.As(t, owner)
		for n := range each {
			writing.Go(func() {
				as.CreateMailbox("example.com", fmt.Sprintf("m%d-%d", i, n)).Want(http.StatusCreated)
			})
		}
	}
	writing.Wait()
	for i := range 10 {
		made := servers[i%2].As(t, owner).Post("/auth/service-accounts", `{"name":"x"}`).Want(http.StatusCreated)
		held := mailhostdtest.Account{AccountID: owner.AccountID, Token: made.Str("token")}
		for _, s := range servers {
			s.As(t, held).Get("/mailboxes").Want(http.StatusOK).Is("total", 2*each)
		}
		servers[i%2].As(t, owner).Delete("/auth/service-accounts/" + made.Str("id")).Want(http.StatusNoContent)
		servers[(i+1)%2].As(t, held).Get("/mailboxes").Want(http.StatusUnauthorized)
	}
}
