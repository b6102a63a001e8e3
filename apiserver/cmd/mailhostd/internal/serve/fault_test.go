package serve_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/mailhostdtest"
)

// fault is a fault of the files of a database.
type fault struct {
	name    string
	inflict func(f files) error
	// mend ends a fault that leaves the content of the files intact. A server notices any other fault
	// only at its start, and copying the files back repairs it.
	mend func(f files) error
	// setUp prepares the directory and returns a command that runs the servers.
	setUp func(t *testing.T, dir string) (command []string)
}

// files are the files of a database in their own directory.
type files struct{ dir, path string }

func (f files) filler() string { return filepath.Join(f.dir, "filler") }

// smallDisk mounts a small file system.
func smallDisk(t *testing.T, dir string) []string {
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("no file system can be mounted here, so that a full disk is not tested: %v %s", err, out)
	}
	t.Cleanup(func() {
		out, err := exec.Command("umount", "-l", dir).CombinedOutput()
		assert.Check(t, err == nil, "umount: %v %s", err, out)
	})
	return nil
}

// fillDisk fills the disk with a file.
func fillDisk(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	for block := make([]byte, 1<<16); len(block) > 0; {
		if _, err := f.Write(block); err != nil {
			block = block[:len(block)/2]
		}
	}
	return f.Close()
}

// obeyModes returns a command that drops a server's superuser right to ignore the modes of files.
func obeyModes(t *testing.T, _ string) []string {
	if os.Getuid() != 0 {
		return nil
	}
	command := []string{"setpriv", "--bounding-set=-dac_override,-dac_read_search", "--"}
	if out, err := exec.Command(command[0], append(command[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("the superuser ignores the modes of files, and setpriv can't change that, so that read-only files are not tested: %v %s", err, out)
	}
	return command
}

// otherProgram writes a database of another program to a path, into an existing file like cp.
func otherProgram(path string) error {
	// The smallest database: a page without tables.
	page := make([]byte, 4096)
	copy(page, "SQLite format 3\x00\x10\x00\x01\x01\x00\x40\x20\x20\x00\x00\x00\x01\x00\x00\x00\x01")
	copy(page[68:], "SONG")
	page[47], page[59], page[99] = 4, 1, 1 // schema format, UTF-8, version
	copy(page[100:], "\x0d\x00\x00\x00\x00\x10\x00\x00")
	return os.WriteFile(path, page, 0o600)
}

var faults = []fault{
	{name: "the file is removed", inflict: func(f files) error { return os.Remove(f.path) }},
	{
		name:    "the file is moved",
		inflict: func(f files) error { return os.Rename(f.path, f.path+".away") },
		mend:    func(f files) error { return os.Rename(f.path+".away", f.path) },
	},
	{
		name:    "the directory is moved",
		inflict: func(f files) error { return os.Rename(f.dir, f.dir+".away") },
		mend:    func(f files) error { return os.Rename(f.dir+".away", f.dir) },
	},
	{
		name:    "a directory in its place",
		inflict: func(f files) error { return errors.Join(os.Rename(f.path, f.path+".away"), os.Mkdir(f.path, 0o700)) },
		mend:    func(f files) error { return errors.Join(os.Remove(f.path), os.Rename(f.path+".away", f.path)) },
	},
	{
		name:    "another program's database in its place",
		inflict: func(f files) error { return errors.Join(os.Rename(f.path, f.path+".away"), otherProgram(f.path)) },
		mend:    func(f files) error { return os.Rename(f.path+".away", f.path) },
	},
	{name: "emptied", inflict: func(f files) error { return os.Truncate(f.path, 0) }},
	{name: "truncated", inflict: func(f files) error { return os.Truncate(f.path, 100_000) }},
	{name: "text over it", inflict: func(f files) error { return os.WriteFile(f.path, bytes.Repeat([]byte("no database\n"), 1000), 0o600) }},
	{name: "another program's database over it", inflict: func(f files) error { return otherProgram(f.path) }},
	{
		name:    "a full disk",
		setUp:   smallDisk,
		inflict: func(f files) error { return fillDisk(f.filler()) },
		mend:    func(f files) error { return os.Remove(f.filler()) },
	},
	{
		name:    "a read-only directory",
		setUp:   obeyModes,
		inflict: func(f files) error { return os.Chmod(f.dir, 0o500) },
		mend:    func(f files) error { return os.Chmod(f.dir, 0o700) },
	},
	{
		name:    "a read-only file",
		setUp:   obeyModes,
		inflict: func(f files) error { return os.Chmod(f.path, 0o400) },
		mend:    func(f files) error { return os.Chmod(f.path, 0o600) },
	},
	{
		name:    "an unreadable file",
		setUp:   obeyModes,
		inflict: func(f files) error { return os.Chmod(f.path, 0o000) },
		mend:    func(f files) error { return os.Chmod(f.path, 0o600) },
	},
}

// TestFaults checks a server during faults of its database: it acknowledges no change that could be lost, and
// reports the fault; a refused start changes nothing; and after the repair of the files, all data exists.
func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: no server loses its disk")
	}
	if runtime.GOOS == "windows" {
		t.Skip("an open file can't be moved or removed on Windows")
	}
	t.Parallel()
	for _, fault := range faults {
		t.Run(fault.name, func(t *testing.T) { t.Parallel(); testFault(t, fault) })
	}
}

func testFault(t *testing.T, fault fault) {
	c := newFaultCase(t, fault)
	if fault.mend != nil {
		assert.NilError(t, fault.inflict(c.files))
		c.use()
		assert.NilError(t, fault.mend(c.files))
		c.recovers()
	}
	c.server.End(t)
	before := c.content()
	assert.NilError(t, fault.inflict(c.files))
	if c.start() {
		return
	}
	if fault.mend == nil {
		fault.mend = before.restore
	}
	assert.NilError(t, fault.mend(c.files))
	assert.Check(t, c.start(), "with the files repaired, not everything is there")
}

// TestFullDiskUnderLoad checks that a server is not ready from the first refused change on, although
// smaller changes still fit into the log, and that it is ready again, without a change, when there is space.
func TestFullDiskUnderLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: no server loses its disk")
	}
	t.Parallel()
	c := newFaultCase(t, fault{setUp: smallDisk})
	owner := c.server.As(t, c.owner)
	created := 0
	bulk := func() int {
		var items []string
		for range 250 {
			created++
			items = append(items, fmt.Sprintf(`{"local_part":"bulk%d","first_name":"Ada","last_name":"Lovelace"}`, created))
		}
		r, err := owner.Try(t.Context(), http.MethodPost, "/mailboxes/bulk", `{"domain":"example.com","items":[`+strings.Join(items, ",")+`]}`)
		assert.NilError(t, err)
		return r.Status
	}
	ready := func() int {
		status, _ := mailhostdtest.Fetch(t, http.MethodGet, c.server.URL+"/healthz/ready")
		return status
	}
	for range 10 { // until the log is used from its beginning again
		assert.Assert(t, is.Equal(bulk(), http.StatusOK), "a bulk create")
	}
	assert.NilError(t, fillDisk(c.filler()))
	for refused := 0; refused < 5; {
		if bulk() != http.StatusOK {
			refused++
			assert.Check(t, is.Equal(ready(), http.StatusServiceUnavailable), "ready after a refused create")
			_, _ = owner.Try(t.Context(), http.MethodPatch, "/mailboxes/m0@example.com", fmt.Sprintf(`{"first_name":"Ada %d"}`, refused))
			assert.Check(t, is.Equal(ready(), http.StatusServiceUnavailable), "ready after a smaller change")
		}
	}
	assert.NilError(t, os.Remove(c.filler()))
	assert.Check(t, is.Equal(ready(), http.StatusOK), "ready with space")
	assert.Check(t, is.Equal(bulk(), http.StatusOK), "a bulk create with space")
	assert.Check(t, is.Equal(ready(), http.StatusOK), "ready afterwards")
}

// content are files with their contents, by the names in their directory.
type content map[string][]byte

// restore writes the files.
func (c content) restore(f files) error {
	var errs []error
	for name, data := range c {
		errs = append(errs, os.WriteFile(filepath.Join(f.dir, name), data, 0o600))
	}
	return errors.Join(errs...)
}

// faultCase is a server with a database that gets a fault.
type faultCase struct {
	*testing.T
	files
	command []string // runs the servers
	owner   mailhostdtest.Account
	server  *mailhostdtest.Server
	// must contains the ids of the acknowledged mailboxes by address.
	must map[string]string
}

func newFaultCase(t *testing.T, fault fault) *faultCase {
	dir := filepath.Join(t.TempDir(), "data")
	assert.NilError(t, os.Mkdir(dir, 0o700))
	c := &faultCase{T: t, files: files{dir, filepath.Join(dir, "mailhost.db")}, must: map[string]string{}}
	if fault.setUp != nil {
		c.command = fault.setUp(t, dir)
	}
	c.owner = mailhostdtest.InitializeIn(t, c.path)
	if refused := c.spawn(); refused != "" {
		t.Fatal(refused)
	}
	c.server.As(t, c.owner).Domain("example.com")
	for n := range 20 {
		assert.Assert(t, is.Equal(c.create(fmt.Sprint("m", n)), http.StatusCreated), "create")
	}
	return c
}

// create creates a mailbox. It returns the status 0 without a response.
func (c *faultCase) create(localPart string) (status int) {
	as := c.server.As(c.T, c.owner)
	r, err := as.Try(c.Context(), http.MethodPost, "/mailboxes", mailhostdtest.Mailbox("example.com", localPart))
	if err != nil {
		return 0
	}
	if r.Status == http.StatusCreated {
		c.must[localPart+"@example.com"] = r.Str("id")
	}
	return r.Status
}

// content returns the files of the directory with their contents.
func (c *faultCase) content() content {
	all := content{}
	err := filepath.WalkDir(c.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		all[filepath.Base(path)], err = os.ReadFile(path)
		return err
	})
	assert.Assert(c, err == nil || errors.Is(err, fs.ErrNotExist), err)
	return all
}

// use sends requests to a server with a faulty database. If the server refuses a change, it must not be
// ready, and must log the reason.
func (c *faultCase) use() {
	var status int
	for n := range 5 {
		status = c.create(fmt.Sprint("meanwhile", n))
		assert.Check(c, status == http.StatusCreated || status == http.StatusServiceUnavailable, "a create: %d; log:\n%s", status, c.server.Log)
		if r, err := c.server.As(c.T, c.owner).Try(c.Context(), http.MethodGet, "/mailboxes?page_size=1000", nil); err != nil ||
			r.Status != http.StatusOK && r.Status != http.StatusServiceUnavailable {
			c.Errorf("a list: %s, %v", r, err)
		}
	}
	ready, body := mailhostdtest.Fetch(c.T, http.MethodGet, c.server.URL+"/healthz/ready")
	c.Logf("the last create: %d; ready: %d %s", status, ready, body)
	assert.Check(c, ready != http.StatusOK || status == http.StatusCreated, "the server is ready")
	outages := c.server.Entries(c.T, "the database is unavailable")
	c.Logf("log: %v", outages)
	if status != http.StatusCreated && (len(outages) == 0 || !strings.Contains(fmt.Sprint(outages), c.path)) {
		c.Errorf("the log does not name the file:\n%s", c.server.Log)
	}
}

// recovers checks that a server recovers by itself after the repair of its database.
func (c *faultCase) recovers() {
	status := c.create("after")
	assert.Check(c, status == http.StatusCreated, "a create afterwards: %d; log:\n%s", status, c.server.Log)
	ready, body := mailhostdtest.Fetch(c.T, http.MethodGet, c.server.URL+"/healthz/ready")
	assert.Check(c, ready == http.StatusOK, "ready afterwards: %d %s", ready, body)
}

// spawn starts a server, or returns the error with which it ends.
func (c *faultCase) spawn() (refused string) {
	s := mailhostdtest.SpawnWith(c.T, c.command, c.path)
	serving, err := s.Log.Await(c.Context(), "serving", 1)
	if err != nil {
		return s.Log.String()
	}
	s.URL, _ = serving["url"].(string)
	c.server = s
	return ""
}

// start starts a server and stops it again, and reports whether all data exists. If not, the server must refuse to
// start and change nothing; or not be ready; or warn about an empty database, because nothing of the old one exists.
func (c *faultCase) start() (complete bool) {
	before := c.content()
	if refused := c.spawn(); refused != "" {
		c.Logf("start: %s", refused)
		assert.Check(c, strings.Contains(refused, c.path) && strings.Contains(refused, "; "), "the message does not name the file and what to do: %s", refused)
		after := c.content()
		for _, files := range []content{before, after} { // an empty log, and its index, mean nothing
			maps.DeleteFunc(files, func(name string, data []byte) bool {
				return strings.HasSuffix(name, "-shm") || strings.HasSuffix(name, "-wal") && len(data) == 0
			})
		}
		assert.Check(c, maps.EqualFunc(before, after, bytes.Equal), "a start that was refused has changed the files %q to %q", slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)))
		return false
	}
	defer c.server.End(c.T)
	if len(before[filepath.Base(c.path)]) == 0 {
		c.server.Log.Wait(c.T, "there is no account yet; create one with: mailhostd init --database "+c.path)
		return false
	}
	missing, err := c.missing()
	if err != nil {
		c.Logf("start: %v", err)
		ready, _ := mailhostdtest.Fetch(c.T, http.MethodGet, c.server.URL+"/healthz/ready")
		assert.Check(c, ready != http.StatusOK, "the server is ready")
	} else if len(missing) > 0 {
		c.Errorf("the server has started without %q; log:\n%s", missing, c.server.Log)
	}
	return err == nil && len(missing) == 0
}

// missing returns the acknowledged mailboxes that a server lacks.
func (c *faultCase) missing() (missing []string, err error) {
	r, err := c.server.As(c.T, c.owner).Try(context.Background(), http.MethodGet, "/mailboxes?page_size=1000", nil)
	if err == nil && r.Status != http.StatusOK {
		err = fmt.Errorf("status %d %s", r.Status, r.Raw)
	}
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	objectsIn(r.JSON, func(address string, o object) { found[address] = o.id })
	for address, id := range c.must {
		if found[address] != id {
			missing = append(missing, address)
		}
	}
	if total := r.At("total"); total != float64(len(found)) {
		err = fmt.Errorf("the total is %v and %d are listed", total, len(found))
	}
	return missing, err
}
