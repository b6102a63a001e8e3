package simulate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/apitest"
	"github.com/mailhost/terraform-provider-mailhost/internal/localcli"
)

// cli is a runner that runs Terraform or OpenTofu with a build of the provider.
type cli struct {
	path, dir string // of the program, and of the configuration
	provider  map[string]any
	env       []string
}

// installed is what all rows share: the provider, and a folder that has it.
var installed = struct {
	once sync.Once
	dir  string
	err  error
}{}

// install builds the provider once and returns the folder that has it.
func install(ctx context.Context) (string, error) {
	installed.once.Do(func() {
		const version = "0.1.0"
		var dir string
		if dir, installed.err = os.MkdirTemp("", "mailhost-simulate-"); installed.err != nil {
			return
		}
		installed.dir = dir
		mirror := filepath.Join(dir, "mirror")
		installed.err = errors.Join(
			localcli.Install(ctx, localcli.GoBuild(filepath.Join("..", ".."), version, os.Stderr), mirror, version),
			os.Mkdir(filepath.Join(dir, "home"), 0o700),
			os.WriteFile(filepath.Join(dir, "cli.tfrc"), []byte(localcli.Config(mirror)), 0o600),
		)
	})
	return installed.dir, installed.err
}

// uninstall removes what install has made.
func uninstall() {
	if installed.dir != "" {
		_ = os.RemoveAll(installed.dir)
	}
}

// newCLI returns a runner for an API at a URL. It runs in a folder of its own.
func newCLI(ctx context.Context, path, dir, url, token string) (*cli, error) {
	shared, err := install(ctx)
	if err != nil {
		return nil, err
	}
	c := &cli{
		path: path, dir: dir,
		provider: map[string]any{"base_url": url, "account_id": apitest.AccountID, "token": token},
		env:      localcli.Environment(os.Environ(), filepath.Join(shared, "cli.tfrc"), filepath.Join(shared, "home")),
	}
	if err := c.write(&configuration{}); err != nil {
		return nil, err
	}
	code, out, err := c.run(ctx, "init")
	if err == nil && code != 0 {
		err = errors.New(out)
	}
	return c, err
}

// write writes a configuration in Terraform's JSON syntax.
func (c *cli) write(config *configuration) error {
	resources := map[string]map[string]any{}
	for _, b := range config.blocks {
		arguments := map[string]any{"depends_on": append([]string{}, b.dependsOn...)}
		maps.Copy(arguments, b.arguments)
		typeName, name, _ := strings.Cut(b.addr, ".")
		if resources[typeName] == nil {
			resources[typeName] = map[string]any{}
		}
		resources[typeName][name] = arguments
	}
	file := map[string]any{
		"terraform": map[string]any{"required_providers": map[string]any{"mailhost": map[string]any{"source": "mailhost/mailhost"}}},
		"provider":  map[string]any{"mailhost": c.provider},
	}
	if len(resources) > 0 {
		file["resource"] = resources
	}
	text, err := json.Marshal(file)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(c.dir, "main.tf.json"), text, 0o600)
}

// run runs a command of the CLI, and returns its exit code and its output.
func (c *cli) run(ctx context.Context, args ...string) (code int, out string, err error) {
	cmd := exec.CommandContext(ctx, c.path, slices.Insert(args, 1, "-input=false", "-no-color")...)
	var output bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = c.dir, c.env, &output, &output
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && ctx.Err() == nil {
		return exit.ExitCode(), output.String(), nil
	}
	return 0, output.String(), err
}

var plannedLine = regexp.MustCompile(`(?m)^  # (\S+ .*)$`)

// plan implements runner.
func (c *cli) plan(ctx context.Context, config *configuration) (changes []string, err error) {
	if err := c.write(config); err != nil {
		return nil, err
	}
	switch code, out, err := c.run(ctx, "plan", "-detailed-exitcode", "-out=plan"); {
	case err != nil:
		return nil, err
	case code == 0:
		return nil, nil
	case code == 2:
		for _, found := range plannedLine.FindAllStringSubmatch(out, -1) {
			changes = append(changes, found[1])
		}
		return append(changes, "see the plan"), nil
	default:
		return nil, errors.New(errorsIn(out))
	}
}

// apply implements runner.
func (c *cli) apply(ctx context.Context) (warned bool, err error) {
	code, out, err := c.run(ctx, "apply", "plan")
	if err == nil && code != 0 {
		err = errors.New(errorsIn(out))
	}
	return strings.Contains(out, "Warning: "), err
}

// errorsIn returns the output of a CLI from its first error on.
func errorsIn(out string) string {
	if at := strings.Index(out, "Error: "); at >= 0 {
		return out[at:]
	}
	return fmt.Sprintf("failed without an error: %s", out)
}
