import type { Argument, Command, Option } from 'commander'
import { caseArgument, caseOptions, getExplanation, sessionArgument } from '../src/cli/command.ts'
import { EXIT, EXIT_MEANINGS } from '../src/cli/output/exit-codes.ts'

const BEGINNING = `# The command line

\`npm run docs:cli\` generates this page. \`casefile <command> --help\` has more examples.

\`\`\`console
$ casefile list                      # what needs you comes first
$ casefile start "sign-in"           # a session plans; nothing runs yet
$ casefile approve "sign-in"         # read the plan, approve exactly that, watch the run
$ casefile proof add "sign-in" --artifact 1-test.tap
$ casefile proof verify "sign-in"      # shows it, and asks
$ casefile resolve "sign-in" --outcome ConfirmedCodeBug
\`\`\`

- **Names.** Name a case by its id, the start of its id, or part of its title; if several match, the command lists them
  and does nothing. Name a session by its number, its id, or \`latest\`; default: the newest that fits. Without a case,
  \`approve\`, \`plan\` and \`tail\` let you choose. Name a proof, comment or webhook by the start of its id.
- **Without a service.** If \`casefile serve\` runs for the workspace, commands use it. Otherwise commands that only show
  something read the files. The others own the workspace while they run, and what they started stops when they end.
- **For programs.** \`--json\` prints one JSON document, as [the API](api.md) gives it; \`tail\` prints one event per line.
  Piped \`list\` is separated by tabs. Messages go to standard error. \`NO_COLOR\` and \`FORCE_COLOR\` are respected.
- **Environment.** The variables in parentheses replace options. \`VISUAL\` or \`EDITOR\` is your editor.
`

const COMMON = new Set(caseOptions().map(({ flags }) => flags))

/** The parts of descriptions that the top of the page says once for all commands. */
const NAMES = [
  caseArgument().description,
  sessionArgument('').description.replace(/ Default: .*/, ''),
  'Its id, or the start of it.',
]
const DEFAULTS = /^Default: (choose one|the newest|the newest that waits for approval)\.$/

/** An argument or option, as it is listed. */
interface Entry {
  name: string
  text: string
}

/** The whole text of docs/cli.md. */
export function docsPage(program: Command): string {
  const groups = new Map<string, Command[]>()
  for (const command of program.commands) {
    const group = command.helpGroup()
    groups.set(group, [...(groups.get(group) ?? []), command])
  }
  const given = new Map<string, string>()
  const parts = [...groups].flatMap(([group, commands]) => [
    `## ${group.replace(/:$/, '')}`,
    ...commands.flatMap((each) => sections(each, given)),
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
  return `## Exit codes\n\n${lines.join('\n')}`
}

/** Without the name of the program. */
function nameOf(command: Command): string {
  const parent = command.parent
  return parent?.parent ? `${nameOf(parent)} ${command.name()}` : command.name()
}

function sharedOptions(): string {
  return `## Options of all commands\n\n${list(caseOptions().map(ofOption))}\n\nFor commands that set something up, \`--root\` is the current folder.`
}

/** The section of a command, or of its subcommands. */
function sections(command: Command, given: Map<string, string>): string[] {
  if (command.commands.length > 0) {
    return command.commands.flatMap((each) => sections(each, given))
  }
  const name = nameOf(command)
  const own = command.options.filter((option) => !option.hidden && !COMMON.has(option.flags))
  const before = (option: Option) => given.get(keyOf(option))
  const entries = [
    ...command.registeredArguments.map(ofArgument).filter(({ text }) => text !== ''),
    ...own
      .filter((option) => !before(option))
      .map((option) => {
        const { name, text } = ofOption(option)
        return {
          name,
          text: isOfAll(option, command)
            ? `${text} For all \`${nameOf(command.parent!)}\` commands.`
            : text,
        }
      }),
  ]
  const repeated = new Map<string, Option[]>()
  for (const option of own) {
    const first = before(option)
    if (first !== undefined && isOfAll(option, command)) continue
    if (first !== undefined) repeated.set(first, [...(repeated.get(first) ?? []), option])
    else given.set(keyOf(option), name)
  }
  const { examples = [], more } = getExplanation(command) ?? {}
  const [[line] = ['']] = examples
  const isPlain = [`casefile ${name}`, `casefile ${name} "sign-in"`].includes(line)
  const repeatsUsage = isPlain || (entries.length === 0 && /^casefile [^|&]*$/.test(line))
  const usage = command.usage().replace('[options]', '').trim()
  return [
    `### \`${`casefile ${name} ${usage}`.trim()}\``,
    `${command.description()}${more === undefined ? '' : ` ${more}`}`,
    ...(repeatsUsage ? [] : [`    ${line}`]),
    ...(entries.length > 0 ? [list(entries)] : []),
    ...(repeated.size > 0 ? [`See ${[...repeated].map(seeText).join(', and ')}.`] : []),
  ]
}

function seeText([command, options]: [command: string, options: readonly Option[]]): string {
  const names = options.map(({ long, flags }) => `\`${long ?? flags}\``).join(', ')
  return `\`casefile ${command}\` for ${names}`
}

/** Whether all subcommands of a command have this option. */
function isOfAll(option: Option, { parent }: Command): boolean {
  if (!parent?.parent || parent.commands.length === 1) return false
  return parent.commands.every(({ options }) =>
    options.some((each) => keyOf(each) === keyOf(option)),
  )
}

/** Equal for options that mean the same in two commands. */
function keyOf({ long, description }: Option): string {
  return `${long} ${description.split(/\. |\.$/)[0]}`
}

function ofArgument(each: Argument): Entry {
  const prefix = NAMES.find((name) => each.description.startsWith(name)) ?? ''
  const text = each.description.slice(prefix.length).trim()
  return { name: each.name(), text: prefix === '' ? text : text.replace(DEFAULTS, '') }
}

function ofOption(each: Option): Entry {
  return { name: each.flags, text: `${each.description}${extras(each)}` }
}

function extras({ argChoices, defaultValue, defaultValueDescription, envVar }: Option): string {
  const isTold = defaultValue !== undefined && defaultValue !== false && defaultValue !== true
  const notes = [
    ...(argChoices ? [`one of ${argChoices.join(', ')}`] : []),
    ...(isTold ? [`default: ${defaultValueDescription ?? String(defaultValue)}`] : []),
    ...(envVar ? [`\`${envVar}\``] : []),
  ]
  return notes.length > 0 ? ` (${notes.join('; ')})` : ''
}

function list(entries: readonly Entry[]): string {
  return entries.map(({ name, text }) => `- \`${name}\`: ${text}`).join('\n')
}
