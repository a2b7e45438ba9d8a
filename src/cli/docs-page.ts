import type { Argument, Command, Option } from 'commander'
import { caseArgument, consoleCommand } from './definitions/arguments.ts'
import { explanationOf } from './definitions/explained.ts'
import { EXIT_MEANINGS } from './exit-codes.ts'

const BEGINNING = `# The command line

This page is made from the program's definitions by \`npm run docs:cli\`. \`casefile --help\` and
\`casefile <command> --help\` say the same.

\`\`\`console
$ casefile list                      # what needs you comes first
$ casefile start "sign-in"           # a session plans; nothing runs yet
$ casefile approve "sign-in"         # shows the plan, asks, then runs exactly that
$ casefile proof add "sign-in" --artifact 1-test.tap
$ casefile proof verify "sign-in" --all   # once you have read it: casefile proof show
$ casefile resolve "sign-in" --outcome ConfirmedCodeBug
\`\`\`

**Workspace.** A command finds its workspace as git finds a repository: the nearest folder upwards with \`casefile.md\` or
\`memory/cases\`. \`--root\` or \`CASEFILE_ROOT\` names another one.

**With a service, and without.** If \`casefile serve\` runs for the workspace, commands use it. Without a running service, \`list\`,
\`show\`, \`gate\`, \`proof list\`, \`proof show\` and \`export\` only read the files. (They write only to clean up after a killed
service, and with 200 cases or more they keep what they read in the state folder.) Other commands lock the workspace
while they run, and wait for each other. A session that such a command starts ends with the command, so \`--detach\` needs a
running service.

**Names.** Name a \`<case>\` by its id, the beginning of its id, or a part of its title (case-insensitive). If several fit, they are
listed and nothing is done. Name a session by its number, its id, or \`latest\`.

**For programs.** With \`--json\` a command prints one JSON document on standard output, as [the API](api.md) gives it, also for an
error. \`tail\` prints one event on each line. Messages for people go to standard error. Colours are for terminals only (see
\`NO_COLOR\` and \`FORCE_COLOR\`), and piped output is never cut to a width. Text from agents cannot move the cursor of your
terminal.

**Environment.** \`CASEFILE_ROOT\`, \`CASEFILE_MEMORY_ROOT\`, \`CASEFILE_STATE_DIR\`, \`CASEFILE_PORT\`, \`CASEFILE_NO_MOUNT\` and
\`CASEFILE_DEV\` replace the options. \`VISUAL\` or \`EDITOR\` names your editor.
`

const COMMON = new Set(consoleCommand('', '').options.map(({ flags }) => flags))

/** The commands that set something up take the current folder. */
function isConsoleRoot({ long, defaultValue }: Option): boolean {
  return long === '--root' && defaultValue === undefined
}

/** The whole of docs/cli.md. */
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

/** The options that all these commands share, listed once. */
function everyOption(): string {
  const { options } = consoleCommand('', '')
  return `## Options of all commands under Cases, Sessions and Proof\n\n${optionTable(options)}`
}

/** A command, or those that it has. The names of cases are explained once, above all commands. */
function sections(command: Command, parent = ''): string[] {
  const name = `${parent}${command.name()}`
  if (command.commands.length > 0) {
    return command.commands.flatMap((each) => sections(each, `${name} `))
  }
  const isCommon = (option: Option) =>
    COMMON.has(option.flags) && command.options.some(isConsoleRoot)
  const own = command.options.filter((option) => !option.hidden && !isCommon(option))
  const explained = command.registeredArguments.filter(
    ({ description }) => description !== caseArgument().description,
  )
  const { examples = [], exits = [], more } = explanationOf(command) ?? {}
  return [
    `### \`casefile ${name}\``,
    `${sentence(command.description())}${more === undefined ? '' : ` ${more}`}`,
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
  return tableOf(['argument', 'what it is'], rows)
}

function optionTable(list: readonly Option[]): string {
  const rows = list.map((each) => [`\`${each.flags}\``, `${each.description}${extras(each)}`])
  return tableOf(['option', 'what it does'], rows)
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

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}
