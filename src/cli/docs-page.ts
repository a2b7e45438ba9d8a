import type { Argument, Command, Option } from 'commander'
import { caseArgument, caseOptions, getExplanation } from './command.ts'
import { EXIT_MEANINGS } from './output/exit-codes.ts'

const BEGINNING = `# The command line

This page is generated from the program by \`npm run docs:cli\`; \`casefile --help\` and
\`casefile <command> --help\` say the same.

\`\`\`console
$ casefile list                      # what needs you comes first
$ casefile start "sign-in"           # a session plans; nothing runs yet
$ casefile approve "sign-in"         # read the plan, approve exactly that, watch the run
$ casefile proof add "sign-in" --artifact 1-test.tap
$ casefile proof verify "sign-in" --all   # once you have read it: casefile proof show
$ casefile resolve "sign-in" --outcome ConfirmedCodeBug
\`\`\`

**Workspace.** A command about cases finds its workspace as git finds a repository: the nearest folder
upwards with \`casefile.md\` or \`memory/cases\`. \`--root\` or \`CASEFILE_ROOT\` names another one.

**With and without a service.** If \`casefile serve\` runs for the workspace, the commands use it.
Without a service, \`list\`, \`search\`, \`show\`, \`history\`, \`plan\`, \`gate\`, \`open\`, \`proof list\`,
\`proof show\`, \`webhook list|show|deliveries\` and \`export\` only read the files, and write nothing,
unless a service that was killed left something to clean up. Other commands own the workspace while they run, and the sessions that they run stop
when they end. Keep a service running for work that should continue without a command: \`--detach\` needs one.
If another command owns the workspace, a command waits for it or sends its requests to it.

**Names.** Name a case by its id, the start of its id, or part of its title, case-insensitive. If
several cases match, the command lists them and does nothing. Name a session by its number, its id, or
\`latest\`. Without a case, \`approve\`, \`plan\` and \`tail\` let you choose one of those that wait.

**For programs.** With \`--json\` a command prints one JSON document on standard output, as
[the API](api.md) gives it; an error is then the problem object of the API. \`tail\` prints one event per
line. Piped output of \`list\` is separated by tabs. Messages for people go to standard error. Colours are only used in a terminal (\`NO_COLOR\` and
\`FORCE_COLOR\` are respected), and piped output is never cut to a width. Nothing that an agent wrote can
move the cursor of your terminal.

**Completion.** \`casefile completion bash\`, \`zsh\` or \`fish\` prints a script for your shell, which
completes commands, options, states, cases, sessions and proofs.

**Environment.** \`CASEFILE_ROOT\`, \`CASEFILE_MEMORY_ROOT\`, \`CASEFILE_STATE_DIR\`, \`CASEFILE_PORT\`, \`CASEFILE_NO_MOUNT\` and
\`CASEFILE_DEV\` replace the options. \`VISUAL\` or \`EDITOR\` names your editor.
`

const COMMON = new Set(caseOptions().map(({ flags }) => flags))

/** Commands that set something up have another default. */
function isNearestRoot({ long, defaultValue }: Option): boolean {
  return long === '--root' && defaultValue === undefined
}

/** The whole text of docs/cli.md. */
export function docsPage(program: Command): string {
  const groups = new Map<string, Command[]>()
  for (const command of program.commands) {
    const group = command.helpGroup()
    groups.set(group, [...(groups.get(group) ?? []), command])
  }
  const parts = [...groups].map(([group, commands]) =>
    [`## ${group.replace(/:$/, '')}`, ...commands.flatMap((each) => sections(each))].join('\n\n'),
  )
  const start = [BEGINNING.trimEnd(), everyOption(), exitCodes()]
  return `${[...start, ...parts].join('\n\n')}\n`
}

function exitCodes(): string {
  const rows = Object.entries(EXIT_MEANINGS).map(([code, meaning]) => `| ${code} | ${meaning} |`)
  return ['## Exit codes', '', '| code | meaning |', '| --- | --- |', ...rows].join('\n')
}

/** The shared options, listed once for all commands. */
function everyOption(): string {
  return `## Shared options\n\nOf all commands about cases, sessions, proof and webhooks.\n\n${optionTable(caseOptions())}`
}

/** The section of a command, or of its subcommands. */
function sections(command: Command, parent = ''): string[] {
  const name = `${parent}${command.name()}`
  if (command.commands.length > 0) {
    return command.commands.flatMap((each) => sections(each, `${name} `))
  }
  const isCommon = (option: Option) =>
    COMMON.has(option.flags) && command.options.some(isNearestRoot)
  const own = command.options.filter((option) => !option.hidden && !isCommon(option))
  const explained = command.registeredArguments.filter(
    ({ description }) => description !== caseArgument().description,
  )
  const { examples = [], exits = [], more } = getExplanation(command) ?? {}
  return [
    `### \`casefile ${name}\``,
    `${command.description()}${more === undefined ? '' : ` ${more}`}`,
    fence([`casefile ${name} ${command.usage()}`.trim()], 'text'),
    ...(explained.length > 0 ? [argumentTable(explained)] : []),
    ...(own.length > 0 ? [optionTable(own)] : []),
    fence(
      examples.map(([line, does]) => `$ ${line}  # ${does}`),
      'console',
    ),
    ...(exits.length > 0 ? [`Exit codes: 0, 1, 2, ${exits.join(', ')}.`] : []),
  ]
}

function argumentTable(list: readonly Argument[]): string {
  const rows = list.map((each) => [`\`${each.name()}\``, each.description])
  return tableOf(['argument', 'meaning'], rows)
}

function optionTable(list: readonly Option[]): string {
  const rows = list.map((each) => [`\`${each.flags}\``, `${each.description}${extras(each)}`])
  return tableOf(['option', 'meaning'], rows)
}

function extras({ argChoices, defaultValue, defaultValueDescription, envVar }: Option): string {
  const isTold = defaultValue !== undefined && defaultValue !== false && defaultValue !== true
  const notes = [
    ...(argChoices ? [`one of ${argChoices.join(', ')}`] : []),
    ...(isTold ? [`default: ${defaultValueDescription ?? String(defaultValue)}`] : []),
    ...(envVar ? [`env: \`${envVar}\``] : []),
  ]
  return notes.length > 0 ? ` (${notes.join('; ')})` : ''
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

function fence(lines: readonly string[], language: string): string {
  return ['```' + language, ...lines, '```'].join('\n')
}
