package processtest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/mailhost/terraform-provider-mailhost/apiserver"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/api"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/store/sqlite"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/vocab"
)

// maxResidentMiB is the memory limit, independent of the account's size.
const maxResidentMiB = 64

// BenchmarkExport exports accounts of several sizes from a server in another process, reads
// pages of their lists, and reports the server's peak memory.
func BenchmarkExport(b *testing.B) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		b.Skip("peak memory is read from /proc, which this system does not have")
	}
	program := filepath.Join(b.TempDir(), "mailhostd")
	if out, err := exec.CommandContext(b.Context(), "go", "build", "-o", program, "../..").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	for _, rows := range []int{1_000, 1_000_000} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			database := filepath.Join(b.TempDir(), "mailhost.db")
			owner := populate(b, database, rows)
			ctx, stop := context.WithCancel(b.Context())
			server := exec.CommandContext(ctx, program, "serve", "--database", database, "--listen", "127.0.0.1:0", "--log-format", "json")
			log := apitest.NewLog()
			server.Stderr = log
			if err := server.Start(); err != nil {
				b.Fatal(err)
			}
			defer func() {
				stop()
				_ = server.Wait()
			}()
			url, _ := log.Wait(b, "serving")["url"].(string)
			as := (&mailhostdtest.Server{URL: url}).As(b, owner)
			for b.Loop() {
				if got := export(b, as); got != rows+1 {
					b.Fatalf("%d lines; want %d", got, rows+1)
				}
				for _, query := range []string{"page=1", "page=" + strconv.Itoa(rows/1000), "page=1&search=mai", "page=1&status=active&search=box-12"} {
					as.Get("/mailboxes?page_size=1000&" + query).Want(http.StatusOK)
				}
			}
			resident := peakResidentMiB(b, server.Process.Pid)
			b.ReportMetric(resident, "MiB-resident")
			b.ReportMetric(float64(b.N*rows)/b.Elapsed().Seconds(), "rows/s")
			if resident > maxResidentMiB {
				b.Errorf("the server's peak memory is %.1f MiB; want at most %d", resident, maxResidentMiB)
			}
		})
	}
}

// populate creates a database with an account and mailboxes without a server.
func populate(b *testing.B, database string, rows int) (owner mailhostdtest.Account) {
	b.Helper()
	db, err := sqlite.Open(b.Context(), database, sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	service, err := apiserver.New(apiserver.Options{Store: db})
	if err != nil {
		b.Fatal(err)
	}
	if owner.AccountID, owner.Token, err = service.InitAccount(b.Context(), "", "bench"); err != nil {
		b.Fatal(err)
	}
	domain := store.Domain{
		ID: api.DerivedID(owner.AccountID, "domain"), AccountID: owner.AccountID, Name: "example.com",
		WorkspaceID: api.DefaultWorkspaceID(owner.AccountID), State: store.Provisioning{Status: vocab.DomainActive}, CreatedAt: time.Now(),
	}
	if err := db.Update(b.Context(), func(tx store.Tx) error { return tx.CreateDomain(&domain) }); err != nil {
		b.Fatal(err)
	}
	const atOnce = 10_000
	for done := 0; done < rows; done += atOnce {
		if err := db.Update(b.Context(), func(tx store.Tx) error {
			for n := done; n < min(done+atOnce, rows); n++ {
				localPart := "mailbox-" + strconv.Itoa(n)
				if err := tx.CreateMailbox(&store.Mailbox{
					ID: uuid.Must(uuid.NewV7()).String(), AccountID: owner.AccountID, DomainID: domain.ID, LocalPart: localPart,
					FirstName: "=SUM(A1)", LastName: "Doe, \"Jane\"", State: store.Provisioning{Status: vocab.MailboxActive}, CreatedAt: time.Now(),
				}); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			b.Fatal(err)
		}
	}
	if err := service.Close(); err != nil {
		b.Fatal(err)
	}
	return owner
}

// export reads a whole export and returns its number of lines.
func export(b *testing.B, c *apitest.Client) (lines int) {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, c.URL+c.Path("/mailboxes/export"), strings.NewReader("{}"))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.HTTP.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	in := bufio.NewReaderSize(resp.Body, 64<<10)
	for {
		_, err := in.ReadSlice('\n')
		if err == io.EOF {
			return lines
		}
		if err != nil {
			b.Fatal(err)
		}
		lines++
	}
}

// peakResidentMiB returns the peak memory of a process.
func peakResidentMiB(b *testing.B, pid int) float64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	if err != nil {
		b.Fatal(err)
	}
	return kib / 1024
}
