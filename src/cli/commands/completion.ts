import { Argument, Command } from 'commander'
import { explain } from '../command.ts'
import { EXIT } from '../output/exit-codes.ts'

export function command(): Command {
  const completion = new Command('completion')
    .description('Print a completion script for your shell.')
    .addArgument(new Argument('<shell>', 'Your shell.').choices(Object.keys(SCRIPTS)))
    .action((shell: keyof typeof SCRIPTS) => {
      process.stdout.write(SCRIPTS[shell])
      process.exitCode = EXIT.done
    })
  return explain(completion, {
    examples: [
      ['source <(casefile completion bash)', 'In ~/.bashrc.'],
      ['source <(casefile completion zsh)', 'In ~/.zshrc, after compinit.'],
      ['casefile completion fish | source', 'In ~/.config/fish/config.fish.'],
    ],
    more: 'It completes commands, options, states, cases, sessions and proofs. Source it in ~/.bashrc or the like.',
    shared: [],
  })
}

const SCRIPTS = {
  bash: `_casefile() {
  local line value current="\${COMP_WORDS[COMP_CWORD]}"
  local -a lines
  mapfile -t lines < <("\${COMP_WORDS[0]}" __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  COMPREPLY=()
  if [[ "\${lines[0]}" == :files ]]; then
    compopt -o default
    return
  fi
  for line in "\${lines[@]}"; do
    value="\${line%%$'\\t'*}"
    if [[ "$current" == [\\"\\']* ]]; then
      value="\${current:0:1}$value"
    else
      value="$(printf %q "$value")"
    fi
    if [[ \${#lines[@]} -gt 1 && "$line" == *$'\\t'?* ]]; then
      value+="  (\${line#*$'\\t'})"
    fi
    COMPREPLY+=("$value")
  done
  if [[ "\${COMPREPLY[0]}" == *= ]]; then
    compopt -o nospace
  fi
}
complete -o nosort -F _casefile casefile
`,
  zsh: `#compdef casefile
_casefile() {
  local line
  local -a lines values
  lines=("\${(@f)$("$words[1]" __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ "$lines[1]" == :files ]]; then
    _files
    return
  fi
  for line in $lines; do
    values+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  _describe casefile values
}
compdef _casefile casefile
`,
  fish: `function __casefile_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l lines ($words[1] __complete $words[2..-1] 2>/dev/null)
  if test "$lines[1]" = :files
    __fish_complete_path (commandline -ct)
  else
    printf '%s\\n' $lines
  end
end
complete -c casefile -f -a '(__casefile_complete)'
`,
}
