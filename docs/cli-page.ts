import type { Command, Option } from 'commander'
import { caseOptions, defaultSubcommand, getExplanation } from '../src/cli/command.ts'
import { EXIT, EXIT_MEANINGS } from '../src/cli/output/exit-codes.ts'

const BEGINNING = `# The command line

\`casefile <command> --help\` explains the options, and has examples.

- **Names.** Name a case by its id, the start of its id, or part of its title; if several match, the command lists them
  and does nothing. Name a session by its number, its id, or \`latest\`; default: the newest that fits. Name a proof, comment
  or webhook by the start of its id.
- **Without a service.** Commands use the running service of the workspace. Without one, those that only show something
  read the files; the others own the workspace while they run, and what they started stops when they end. \`open\`,
  \`agent run\`, \`agent test\`, \`--detach\`, decisions of \`inbox\`, and approving several plans need one.
- **For programs.** \`--json\` prints one JSON document, as [the API](api.md) gives it; \`session watch\` one event per line.
  Without a terminal, or with \`--json\`, what asks needs \`--yes\` (else exit code 2). Piped \`list\` is separated by tabs.
  Messages go to standard error. \`NO_COLOR\` and \`FORCE_COLOR\` are respected.
- **Environment.** The variables in parentheses replace options. \`VISUAL\` or \`EDITOR\` is your editor.
`

/** The whole text of docs/cli.md. */
export function docsPage(program: Command): string {
  const groups = new Map<string, Command[]>()
  for (const command of program.commands) {
    const group = command.helpGroup()
    groups.set(group, [...(groups.get(group) ?? []), command])
  }
  const parts = [...groups].flatMap(([group, commands]) => [
    `## ${group === 'Hidden' ? 'For hooks and scripts' : group}`,
    ['command | what it does', '--- | ---', ...commands.flatMap(rows)].join('\n'),
  ])
  const start = [BEGINNING.trimEnd(), sharedOptions(), exitCodes(program)]
  return `${[...start, ...parts].join('\n\n')}\n`
}

/** Codes that every command may have are listed without commands. */
function exitCodes(program: Command): string {
  const general: number[] = [EXIT.done, EXIT.failed, EXIT.usage, EXIT.unknown, EXIT.unfinished]
  const leaves = program.commands.flatMap((each) => (each.commands.length ? each.commands : [each]))
  const lines = Object.entries(EXIT_MEANINGS).map(([code, meaning]) => {
    const with_ = leaves.filter((each) =>
      getExplanation(each)?.exits?.some((exit) => exit === Number(code)),
    )
    const names = with_.map((each) => `\`${nameOf(each)}\``).join(', ')
    return `- ${code}: ${meaning}${general.includes(Number(code)) ? '' : ` (${names})`}`
  })
  return `## Exit codes\n\n${lines.join('\n')}\n\nFor \`sync\`, \`verify-commits\` and \`doctor --check\`, 1 and 2 mean what their help says.`
}

/** Without the name of the program. */
function nameOf(command: Command): string {
  const parent = command.parent
  return parent?.parent ? `${nameOf(parent)} ${command.name()}` : command.name()
}

function sharedOptions(): string {
  const options = caseOptions().map((each) => `- ${nameOfOption(each)}: ${each.description}`)
  return `## Options of most commands\n\n${options.join('\n')}\n\nFor \`init\`, \`serve\`, \`verify-commits\` and \`trailer\`, \`--root\` is the current folder.`
}

/** The row of a command, or those of its subcommands; a default one can be left out. */
function rows(command: Command): string[] {
  if (command.commands.length > 0) return command.commands.flatMap(rows)
  const usage = command.usage().replace('[options]', '').trim()
  const isDefault = command.parent !== null && defaultSubcommand(command.parent) === command
  const name = isDefault ? nameOf(command).replace(/\S+$/, '[$&]') : nameOf(command)
  return [`\`${`${name} ${usage}`.trim()}\` | ${command.description()}`]
}

/** With the variable that replaces it. */
function nameOfOption({ long, flags, envVar }: Option): string {
  return `\`${long ?? flags}\`${envVar ? ` (\`${envVar}\`)` : ''}`
}
