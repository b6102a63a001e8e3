package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	zombiezen "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// The tests below start this test binary again as other processes. The variable selects
// what such a process does with the file whose path is its only argument.
const roleVariable = "MAILHOST_SQLITE_TEST_ROLE"

func TestMain(m *testing.M) {
	roles := map[string]func(path string) error{"": nil, "race": race, "write": writeMailboxes, "cancel": cancelOften}
	role := roles[os.Getenv(roleVariable)]
	if role == nil {
		os.Exit(m.Run())
	}
	if err := role(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// process is a child process that runs this test binary.
type process struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func start(t *testing.T, role, path string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(os.Args[0], path)}
	p.Env = append(os.Environ(), roleVariable+"="+role)
	p.Stderr = os.Stderr
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewScanner(out)
	if p.in, err = p.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Process.Kill() })
	return p
}

// contested is the number of addresses that all processes of a race try to create.
const contested = 150

// race opens a store when its input ends, creates the contested addresses, and prints the
// addresses that this process created.
func race(path string) error {
	fmt.Println("ready")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	ctx := context.Background()
	s, err := Open(ctx, path, Options{checkpointFrames: 20})
	if err != nil {
		return err
	}
	if err := errors.Join(populate(ctx, s), contest(ctx, s, os.Stdout)); err != nil {
		return errors.Join(err, s.Close())
	}
	return s.Close()
}

// contest creates the contested addresses concurrently and counts in the account how many
// it created.
func contest(ctx context.Context, s store.Store, won io.Writer) error {
	var mu sync.Mutex
	var errs []error
	var wg sync.WaitGroup
	pending := make(chan string)
	for range 4 {
		wg.Go(func() {
			for localPart := range pending {
				err := contestOne(ctx, s, localPart)
				mu.Lock()
				if err == nil {
					fmt.Fprintln(won, localPart)
				} else if _, exists := errors.AsType[*store.ExistsError](err); !exists {
					errs = append(errs, err)
				}
				mu.Unlock()
			}
		})
	}
	for _, localPart := range localParts(contested) {
		pending <- localPart
	}
	close(pending)
	wg.Wait()
	return errors.Join(errs...)
}

// contestOne creates a contested address while an open reader keeps checkpoints from
// completing.
func contestOne(ctx context.Context, s store.Store, localPart string) error {
	return s.View(ctx, func(r store.Reader) error {
		if _, err := r.Accounts(); err != nil {
			return err
		}
		return createContested(ctx, s, localPart)
	})
}

func createContested(ctx context.Context, s store.Store, localPart string) error {
	return s.Update(ctx, func(tx store.Tx) error {
		m := newMailbox(localPart)
		if err := tx.CreateMailbox(&m); err != nil {
			return err
		}
		_, err := tx.UpdateAccount(accountID, func(a *store.Account) error { a.PlanID += "+"; return nil })
		return err
	})
}

// TestProcesses checks that several processes that open a new file at the same time and
// create the same addresses create each address once. The test process is one of them,
// with two stores.
func TestProcesses(t *testing.T) {
	path := newPath(t)
	others := []*process{start(t, "race", path), start(t, "race", path)}
	for _, p := range others {
		p.out.Scan() // the process is ready
	}
	for _, p := range others {
		if err := p.in.Close(); err != nil {
			t.Fatal(err)
		}
	}
	here, too := openStore(t, path, Options{checkpointFrames: 20}), openStore(t, path, Options{checkpointFrames: 20})
	mustPopulate(t, here)
	var won [2]strings.Builder
	var wg sync.WaitGroup
	for i, s := range []store.Store{here, too} {
		wg.Go(func() {
			if err := contest(t.Context(), s, &won[i]); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	winners := append(strings.Fields(won[0].String()), strings.Fields(won[1].String())...)
	for _, p := range others {
		for p.out.Scan() {
			winners = append(winners, p.out.Text())
		}
		if err := p.Wait(); err != nil {
			t.Error(err)
		}
	}
	verifyContest(t, here, winners)
}

func verifyContest(t *testing.T, s *Store, winners []string) {
	t.Helper()
	once := make(map[string]bool)
	for _, w := range winners {
		if once[w] {
			t.Errorf("%s was created twice", w)
		}
		once[w] = true
	}
	if len(once) != contested {
		t.Errorf("%d addresses were created, want %d", len(once), contested)
	}
	if err := s.View(t.Context(), func(r store.Reader) error {
		boxes, _, err := r.Mailboxes(accountID, store.MailboxFilter{}, store.Slice{Limit: contested + 1})
		for i := 1; i < len(boxes); i++ {
			if !boxes[i-1].CreatedAt.Before(boxes[i].CreatedAt) {
				t.Errorf("%v is followed by %v", boxes[i-1].CreatedAt, boxes[i].CreatedAt)
			}
		}
		a, err2 := r.Account(accountID)
		if want := "0" + strings.Repeat("+", contested); a.PlanID != want || len(boxes) != contested {
			t.Errorf("%d mailboxes; the counter is %s", len(boxes), a.PlanID)
		}
		return errors.Join(err, err2)
	}); err != nil {
		t.Error(err)
	}
	check(t, s)
}

// cancelOften changes the account's status once for each line of its input, and then
// prints a line.
func cancelOften(path string) error {
	ctx := context.Background()
	s, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if err := s.Update(ctx, func(tx store.Tx) error {
			_, err := tx.UpdateAccount(accountID, func(a *store.Account) error { a.Status += "x"; return nil })
			return err
		}); err != nil {
			return errors.Join(err, s.Close())
		}
		fmt.Println("done")
	}
	return s.Close()
}

// TestAuthorizationVersionOfOtherProcesses checks that a store returns the new version as
// soon as another process, or another store of this process, has committed a change.
func TestAuthorizationVersionOfOtherProcesses(t *testing.T) {
	path := newPath(t)
	stores := []*Store{openStore(t, path, Options{}), openStore(t, path, Options{})}
	mustPopulate(t, stores[0])
	stores = append(stores, openStore(t, path, Options{ReadOnly: true}))
	p := start(t, "cancel", path)
	seen := map[int64]bool{}
	for n := range 50 {
		version := authorizationVersion(t, stores[0])
		for _, s := range append(stores, stores...) { // the second time from the cache
			if got := authorizationVersion(t, s); got != version || seen[got] {
				t.Fatalf("after %d changes by another process the versions are %d and %d", n, version, got)
			}
		}
		seen[version] = true
		if _, err := create(t.Context(), stores[n%2], fmt.Sprint("m", n)); err != nil {
			t.Fatal(err)
		}
		if got := authorizationVersion(t, stores[0]); got != version {
			t.Fatal("a mailbox changes the version")
		}
		if _, err := fmt.Fprintln(p.in); err != nil || !p.out.Scan() {
			t.Fatal(err, p.out.Err())
		}
	}
	if err := errors.Join(p.in.Close(), p.Wait()); err != nil {
		t.Error(err)
	}
}

// writeMailboxes creates mailboxes with several clients, prints the id of each mailbox after
// its commit, and reads all the while. It closes the store when its input ends.
func writeMailboxes(path string) error {
	ctx := context.Background()
	s, err := Open(ctx, path, Options{checkpointFrames: 50})
	if err != nil {
		return err
	}
	if err := populate(ctx, s); err != nil {
		return err
	}
	var group errgroup.Group
	ended := make(chan struct{})
	repeat := func(do func(n int) error) {
		group.Go(func() error {
			for n := 0; ; n++ {
				select {
				case <-ended:
					return nil
				default:
				}
				if err := do(n); err != nil {
					return err
				}
			}
		})
	}
	for client := range 8 {
		repeat(func(n int) error {
			id, err := create(ctx, s, fmt.Sprintf("m%d-%d-%d", os.Getpid(), client, n))
			if err == nil {
				fmt.Println(id) // one write, so that lines don't mix
			}
			return err
		})
	}
	repeat(func(int) error {
		return errors.Join(s.Ping(ctx), s.View(ctx, func(r store.Reader) error {
			_, _, err := r.Mailboxes(accountID, store.MailboxFilter{}, store.Slice{Limit: 10})
			return err
		}))
	})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // which is a pipe
		close(ended)
	}()
	return errors.Join(group.Wait(), s.Close())
}

// maintain does what may be done to a file that is in use, in a random order, until stopped
// is closed. Other programs may, with SQLite's locks.
func maintain(t *testing.T, path string, r *rand.Rand, stopped <-chan struct{}) {
	conn, err := zombiezen.OpenConn(path, zombiezen.OpenReadWrite)
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close()
	conn.SetBusyTimeout(time.Second)
	for {
		select {
		case <-stopped:
			return
		default:
		}
		statement := []string{
			``, `VACUUM`, `REINDEX`, `ANALYZE`, `PRAGMA optimize`, `PRAGMA wal_checkpoint(TRUNCATE)`, `PRAGMA wal_checkpoint(RESTART)`,
		}[r.IntN(7)]
		if statement == "" {
			now := time.Now()
			err = os.Chtimes(path, now, now)
		} else {
			err = sqlitex.ExecuteTransient(conn, statement, nil)
		}
		if err != nil && !isBusy(err) {
			t.Errorf("%s: %v", statement, err)
			return
		}
	}
}

// TestAcknowledged checks that every acknowledged mailbox exists after its process has ended
// or was killed, while another program vacuums, checkpoints and touches the file, and that no
// request fails. In some rounds this process has the file open too.
func TestAcknowledged(t *testing.T) {
	path := newPath(t)
	openStore(t, path, Options{})
	r := rand.New(rand.NewPCG(1, 2))
	acknowledged := map[string]bool{}
	for round := range 6 {
		killed := round%2 == 0
		var stays *Store
		if round%3 == 1 {
			stays = openStore(t, path, Options{})
		}
		p := start(t, "write", path)
		stopped := make(chan struct{})
		var maintenance sync.WaitGroup
		maintenance.Go(func() { maintain(t, path, r, stopped) })
		for n := 0; p.out.Scan(); n++ {
			acknowledged[p.out.Text()] = true
			end := p.in.Close
			if killed {
				end = p.Process.Kill
			}
			if n == 200 {
				if err := end(); err != nil {
					t.Error(err)
				}
			}
		}
		if err := p.Wait(); err != nil && !killed {
			t.Error(err)
		}
		close(stopped)
		maintenance.Wait()
		again := openStore(t, path, Options{})
		for _, s := range []*Store{stays, again} {
			if s == nil {
				continue
			}
			missing := maps.Clone(acknowledged)
			if err := s.View(t.Context(), func(r store.Reader) error {
				return r.EachMailbox(accountID, store.MailboxFilter{}, func(m store.Mailbox) error { delete(missing, m.ID); return nil })
			}); err != nil {
				t.Error(err)
			}
			if len(missing) > 0 || len(acknowledged) <= 200*(round+1) {
				t.Errorf("round %d, killed %t: %d of %d acknowledged mailboxes are missing", round, killed, len(missing), len(acknowledged))
			}
			check(t, s)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
