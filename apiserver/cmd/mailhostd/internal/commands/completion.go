package commands

import (
	"io"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
)

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

func (completionCommand) Help() string {
	return `Set it up in the shell's start file:
  bash   source <(mailhostd completion bash)
  zsh    source <(mailhostd completion zsh)
  fish   mailhostd completion fish | source`
}

// completionScripts make a shell run mailhostd with COMP_LINE set, which prints the completions.
var completionScripts = map[string]string{
	"bash": "complete -o default -C mailhostd mailhostd\n",
	"zsh":  "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\ncomplete -o default -C mailhostd mailhostd\n",
	"fish": `function __complete_mailhostd
    set -lx COMP_LINE (commandline -cp)
    mailhostd
end
complete -c mailhostd -a "(__complete_mailhostd)"
`,
}

func (c completionCommand) Run(p cli.Program) error {
	_, err := io.WriteString(p.Stdout, completionScripts[c.Shell])
	return err
}
