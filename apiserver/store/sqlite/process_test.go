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
	"strconv"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/store"
)

// The tests below start this test binary again as other processes. The variable selects the action
// of such a process, and its first argument is the path of the file.
const roleVariable = "MAILHOST_SQLITE_TEST_ROLE"

func TestMain(m *testing.M) {
	roles := map[string]func(path string) error{"": nil, "write": writeMailboxes}
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

func start(t *testing.T, role string, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(os.Args[0], args...)}
	p.Env = append(os.Environ(), roleVariable+"="+role)
	p.Stderr = os.Stderr
	out, err := p.StdoutPipe()
	assert.NilError(t, err)
	p.out = bufio.NewScanner(out)
	if p.in, err = p.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	assert.NilError(t, p.Start())
	t.Cleanup(func() { _ = p.Process.Kill() })
	return p
}

// writeMailboxes creates mailboxes with several clients, counts them in the account, prints the
// id of each after its commit, and reads all the while. Other processes create the same
// addresses. It closes the store when its input ends.
func writeMailboxes(path string) error {
	ctx := context.Background()
	s, err := Open(ctx, path, Options{checkpointFrames: 50})
	if err != nil {
		return err
	}
	if err := populate(ctx, s); err != nil {
		return err
	}
	const clients = 8
	var all sync.WaitGroup
	errs := make(chan error, clients+1)
	ended := make(chan struct{})
	repeat := func(do func(n int) error) {
		all.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-ended:
					return
				default:
				}
				if err := do(n); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	for client := range clients {
		repeat(func(n int) error {
			m := newMailbox(fmt.Sprintf("%s-%d-%d", os.Args[2], client, n))
			err := s.Update(ctx, func(tx store.Tx) error {
				if err := tx.Create(&m); err != nil {
					return err
				}
				_, err := store.Update(tx, accountID, accountID, func(a *store.Account) error {
					count, err := strconv.Atoi(a.PlanID)
					a.PlanID = strconv.Itoa(count + 1)
					return err
				})
				return err
			})
			if _, exists := errors.AsType[*store.ExistsError](err); exists {
				return nil
			}
			if err == nil {
				fmt.Println(m.ID) // one write, so that lines don't mix
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
	all.Wait()
	close(errs)
	for failure := range errs {
		err = errors.Join(err, failure)
	}
	return errors.Join(err, s.Close())
}

// maintain changes a file in use as other programs may with SQLite's locks, in a random order, until
// stopped is closed.
func maintain(t *testing.T, path string, r *rand.Rand, stopped <-chan struct{}) {
	s, err := connect(t.Context(), path, settings{wait: time.Second})
	if err != nil {
		t.Error(err)
		return
	}
	defer s.close()
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
			err = s.exec(statement)
		}
		if err != nil && !isBusy(err) {
			t.Errorf("%s: %v", statement, err)
			return
		}
	}
}

// TestAcknowledged checks that every acknowledged mailbox exists once after its processes ended or
// were killed, while another program vacuums, checkpoints and touches the file, and that no request
// fails.
func TestAcknowledged(t *testing.T) {
	const wanted = 25 // by each process in each round
	path := newPath(t)
	random := rand.New(rand.NewPCG(1, 2))
	acknowledged := map[string]bool{}
	for round := range 6 {
		before := len(acknowledged)
		processes := []*process{start(t, "write", path, fmt.Sprint(round)), start(t, "write", path, fmt.Sprint(round))}
		stopped := make(chan struct{})
		var maintenance sync.WaitGroup
		maintain := sync.OnceFunc(func() { maintenance.Go(func() { maintain(t, path, random, stopped) }) })
		var readers sync.WaitGroup
		var mu sync.Mutex
		for i, p := range processes {
			killed := (round+i)%2 == 0
			end := p.in.Close
			if killed {
				end = p.Process.Kill
			}
			readers.Go(func() {
				for n := 0; p.out.Scan(); n++ {
					maintain() // there is a file now
					mu.Lock()
					acknowledged[p.out.Text()] = true
					mu.Unlock()
					if n == wanted {
						assert.Check(t, end())
					}
				}
				if err := p.Wait(); err != nil && !killed {
					t.Error(err)
				}
			})
		}
		readers.Wait()
		close(stopped)
		maintenance.Wait()
		assert.Assert(t, len(acknowledged) > before+2*wanted, "round %d: %d were acknowledged, and before %d", round, len(acknowledged), before)
		s := openStore(t, path, Options{})
		lost := missing(t, s, acknowledged)
		assert.Check(t, lost <= 0, "round %d: %d of %d acknowledged mailboxes are missing", round, lost, len(acknowledged))
		err := s.View(t.Context(), func(r store.Reader) error {
			a, err := r.Account(accountID)
			n := len(addresses(t, s))
			assert.Check(t, a.PlanID == strconv.Itoa(n), "%d mailboxes, and %s were counted", n, a.PlanID)
			return err
		})
		assert.Check(t, err)
		check(t, s)
		assert.Check(t, s.Close())
	}
}

// missing returns how many of the mailboxes with these ids do not exist.
func missing(t *testing.T, s *Store, ids map[string]bool) int {
	t.Helper()
	left := maps.Clone(ids)
	err := s.View(t.Context(), func(r store.Reader) error {
		return r.EachMailbox(accountID, store.MailboxFilter{}, func(m store.Mailbox) error { delete(left, m.ID); return nil })
	})
	assert.Check(t, err)
	return len(left)
}
