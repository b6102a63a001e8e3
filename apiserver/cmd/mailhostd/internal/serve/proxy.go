package serve

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/proxy"
)

// ProxyCommand compares a host with the contract.
type ProxyCommand struct {
	Upstream  notEmpty `required:"" variable:"-" placeholder:"URL" help:"URL of the host, as in MAILHOST_BASE_URL: the part before /v1."`
	Listen    string   `variable:"-" default:"127.0.0.1:0" placeholder:"ADDRESS" help:"Address to listen on, such as 127.0.0.1:4566; a port alone is on 127.0.0.1. Default: any free port."`
	ReadOnly  bool     `variable:"-" help:"Pass on only requests that change nothing. Another one gets a 403 that says so."`
	Report    notEmpty `variable:"-" placeholder:"FILE" help:"File to write the report to at the end, as JSON."`
	Record    notEmpty `variable:"-" placeholder:"FILE" help:"File to write the requests and responses to at the end, in the format of go-vcr (YAML), without credentials and other secrets. It must not exist."`
	Anonymize bool     `variable:"-" help:"Replace names of people, local parts of addresses and free texts everywhere in --record, the same value always in the same way: user-1@example.com, First 1. Ids and domains stay."`
	Fail      bool     `variable:"-" help:"End with the exit code 1 if the host differs: if an operation does, or if a published one is absent. Also if nothing was compared."`
	Command   []string `arg:"" optional:"" passthrough:"partial" help:"Command to run with MAILHOST_BASE_URL set to the proxy. Without one, the proxy runs until Ctrl-C."`
}

func (ProxyCommand) Help() string {
	return "Passes requests of any client on to a host, and compares each response with the API's contract:\n\n" +
		"    mailhostd proxy --upstream https://mail.example.com --read-only -- terraform plan\n" +
		"    mailhostd proxy --upstream https://mail.example.com --listen 4566 --report report.json\n\n" +
		"At the end it prints the operations that it saw, and each difference once: the operation, the place, what the contract has there, what the host sent, and how often. " +
		"The client's credential goes to the host, and nowhere else. No value of an object is printed or written, only its type or form; where the contract lists the values, a word that it lacks is. " +
		"A lifecycle operation that the host lacks is no difference. With a command, the report goes to stderr, and the exit code is the command's unless that is 0. " +
		"A base_url in the provider block takes precedence over MAILHOST_BASE_URL."
}

func (c ProxyCommand) Validate() error {
	if c.Anonymize && c.Record == "" {
		return errors.New("--anonymize: needs --record")
	}
	upstream := string(c.Upstream) + "/"
	before, _, _ := strings.Cut(upstream, "/v1/")
	switch err := cmp.Or(cli.CheckURL("--upstream", string(c.Upstream)), checkAddress("--listen", c.Listen)); {
	case err != nil:
		return err
	case before != upstream:
		return fmt.Errorf("--upstream: leave out /v1, with which each request begins: %s", before)
	}
	return nil
}

// Run passes requests on until the command ends or ctx is cancelled.
func (c ProxyCommand) Run(ctx context.Context, p cli.Program) error {
	upstream, err := url.Parse(strings.TrimSuffix(string(c.Upstream), "/"))
	if err != nil {
		return err
	}
	l, err := listen(ctx, "--listen", loopbackByDefault(c.Listen))
	if err != nil {
		return err
	}
	defer l.Close()
	at := urlOf(l.Addr().String())
	if upstream.Host == strings.TrimPrefix(at, "http://") {
		return cli.UsageError("--upstream: is the proxy itself")
	}
	handler := proxy.New(upstream, c.ReadOnly)
	if c.Record != "" {
		if err := checkNewFile(string(c.Record)); err != nil {
			return fmt.Errorf("--record: %w", err)
		}
		handler.Record(c.Anonymize)
	}
	var file *os.File
	if c.Report != "" {
		if file, err = os.Create(string(c.Report)); err != nil {
			return fmt.Errorf("--report: %w", err)
		}
		p.CloseLater(file)
	}
	if !isLocal(l.Addr().String()) {
		fmt.Fprintln(p.Stderr, "The proxy can be reached from other machines, without TLS: whoever sees a client's requests to it sees its credential.")
	}
	failed := make(chan error, 1)
	server := start(&http.Server{Handler: handler, ReadHeaderTimeout: defaultConnectionLimits.header, IdleTimeout: defaultConnectionLimits.idle, MaxHeaderBytes: maxHeaderBytes}, l, failed)
	out, wait := p.Stdout, func() error { return c.wait(ctx, p, at, failed) }
	if argv := argvOf(c.Command); len(argv) > 0 {
		out = p.Stderr
		if wait, err = startCommand(ctx, p, argv, []string{at}, "MAILHOST_BASE_URL="+at); err != nil {
			return errors.Join(err, server.Close())
		}
	}
	ended := wait()
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if server.Shutdown(limit) != nil {
		_ = server.Close() // the requests in flight are aborted
	}
	report := handler.Report()
	err = writeJSON(file, report)
	if c.Record != "" {
		err = errors.Join(err, writeRecording(handler, string(c.Record), p.Stderr))
	}
	var text bytes.Buffer
	writeReport(&text, report)
	if _, printErr := out.Write(text.Bytes()); printErr != nil { // last: a write to a closed pipe ends the program
		err = errors.Join(err, fmt.Errorf("the report can't be written: %w", printErr))
	}
	switch {
	case err != nil:
		return err
	case ended != nil:
		return ended
	case c.Fail && (report.Differs || report.Unreachable > 0 || report.Requests() == 0):
		return &cli.ExitError{Code: cli.ExitFailure}
	}
	return nil
}

// wait prints how to use the proxy, and returns when ctx is cancelled, after SIGHUP, or when serving has failed.
func (c ProxyCommand) wait(ctx context.Context, p cli.Program, at string, failed <-chan error) error {
	only := ""
	if c.ReadOnly {
		only = " that change nothing"
	}
	if !signal.Ignored(syscall.SIGHUP) { // by nohup; otherwise a closed terminal ends the proxy like Ctrl-C
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGHUP)
		defer stop()
	}
	fmt.Fprintf(p.Stdout, "Passing requests%s on to %s. Point a client at the proxy, and press Ctrl-C for the report:\n\n    export MAILHOST_BASE_URL=%s\n\n", only, c.Upstream, at)
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		return nil
	}
}

// checkNewFile reports before the first request that a file exists, or that it can't be created. The file itself is
// created at the end, so that a proxy that is killed leaves none.
func checkNewFile(name string) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(name))
}

// writeRecording writes a recording, if there is anything to write. If another program has created the file in the
// meantime, the recording goes to a file beside it, because its requests may have cost money.
func writeRecording(handler *proxy.Proxy, name string, stderr io.Writer) error {
	if handler.Recorded() == 0 {
		fmt.Fprintf(stderr, "No request for an operation of the API got a response, so that %s was not written.\n", name)
		return nil
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	existing := err
	if errors.Is(err, os.ErrExist) {
		file, err = os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	}
	if err != nil {
		return fmt.Errorf("the recording can't be written: %w", err)
	}
	if err := errors.Join(handler.WriteRecording(file), file.Close()); err != nil {
		return fmt.Errorf("the recording can't be written: %w", errors.Join(err, os.Remove(file.Name())))
	}
	describeRecording(stderr, name, handler.Lost(), handler.Replaced())
	if existing != nil {
		return fmt.Errorf("the recording is in %s: %w", file.Name(), existing)
	}
	return nil
}

// maxReplaced is the number of replacements that are printed.
const maxReplaced = 200

// describeRecording prints what a recording lacks, and which names it contains in place of others. The names are nowhere
// in the file.
func describeRecording(w io.Writer, name string, lost map[string]int, replaced map[string]string) {
	if len(lost) > 0 {
		var operations []string
		for _, operation := range slices.Sorted(maps.Keys(lost)) {
			operations = append(operations, fmt.Sprintf("%s (%d×)", operation, lost[operation]))
		}
		fmt.Fprintf(w, "%s is incomplete: it lacks requests whose responses did not arrive or could not be read: %s. Record again, unless the client repeated them.\n", name, strings.Join(operations, ", "))
	}
	if len(replaced) == 0 {
		return
	}
	fmt.Fprintf(w, "%s contains other names and local parts. Use them in the tests with it, and keep this list to yourself:\n", name)
	for i, value := range slices.Sorted(maps.Keys(replaced)) {
		if i == maxReplaced {
			fmt.Fprintf(w, "    and %d more\n", len(replaced)-i)
			break
		}
		fmt.Fprintf(w, "    %s → %s\n", value, replaced[value])
	}
}

func writeJSON(file *os.File, r proxy.Report) error {
	if file == nil {
		return nil
	}
	enc := json.NewEncoder(file)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("the report can't be written: %w", err)
	}
	return nil
}

// writeReport writes the report as text.
func writeReport(w io.Writer, r proxy.Report) {
	rows := [][]string{{"NUMBER", "OPERATION", "REQUESTS", "STATE"}}
	var unseen []string
	published, lifecycle, absent := 0, 0, 0
	for _, op := range r.Operations {
		if op.State == proxy.NotSeen && op.Number > 0 {
			unseen = append(unseen, op.ID)
		}
		if op.Requests+op.Blocked == 0 {
			continue
		}
		number := ""
		switch {
		case op.Number > 0 && op.Requests > 0:
			published++
		case op.Requests > 0:
			lifecycle++
		}
		if op.Number > 0 {
			number = strconv.Itoa(op.Number)
			if op.State == proxy.Absent {
				absent++
			}
		}
		rows = append(rows, []string{number, op.ID, strconv.Itoa(op.Requests), describe(op)})
	}
	if len(rows) == 1 {
		fmt.Fprintln(w, "No request for an operation of the API has reached the proxy.")
	} else {
		fmt.Fprintf(w, "The host was asked for %d of the 22 published operations, and for %s.\n\n", published, cli.Counted(lifecycle, "lifecycle operation"))
		cli.WriteTable(w, rows)
		fmt.Fprintf(w, "\nPublished operations that were not seen: %s\n", cmp.Or(strings.Join(unseen, ", "), "none"))
	}
	for _, other := range []struct {
		count int
		text  string
	}{
		{r.Outside, "outside of the contract"}, {r.Unreachable, "without a response of the host: " + r.Cause}, {r.Unfinished, "with a response that was not compared: it broke off, or is too large, or compressed in an unknown way"},
		{r.Blocked, "not passed on"},
	} {
		if other.count > 0 {
			fmt.Fprintf(w, "%s %s\n", cli.Counted(other.count, "request"), other.text)
		}
	}
	operation := ""
	for _, f := range r.Findings {
		if f.Operation != operation {
			operation = f.Operation
			fmt.Fprintf(w, "\n%s\n", operation)
		}
		fmt.Fprintf(w, "  %s: expected %s; received %s (%d×)\n", f.Place, f.Expected, f.Received, f.Count)
	}
	switch {
	case r.Differs:
		var all []string
		if n := len(r.Findings); n > 0 {
			all = append(all, cli.Counted(n, "difference"))
		}
		if absent > 0 {
			all = append(all, cli.Counted(absent, "absent published operation"))
		}
		fmt.Fprintf(w, "\nThe host differs from the contract: %s.\n", strings.Join(all, ", "))
	case r.Requests() > 0 && r.Unreachable == 0:
		fmt.Fprintln(w, "\nNo response differs from the contract.")
	}
}

// describe returns the state of an operation in words.
func describe(op proxy.Operation) string {
	blocked := ""
	if op.Blocked > 0 {
		blocked = strconv.Itoa(op.Blocked) + " not passed on"
	}
	switch {
	case op.State == proxy.NotSeen:
		return blocked
	case op.State == proxy.Absent && op.Number == 0:
		return "absent, as the contract permits"
	case op.State == proxy.Refused:
		return "no request succeeded"
	case blocked != "":
		return op.State + ", " + blocked
	}
	return op.State
}
