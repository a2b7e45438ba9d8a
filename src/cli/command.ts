import { Argument, type Command, InvalidArgumentError, Option } from 'commander'
import { EXIT_MEANINGS, type ExitCode } from './output/exit-codes.ts'
import { wrapped } from './output/wrapped.ts'

/** Dependencies of the commands. */
export interface ProgramContext {
  version: string
  /** The folder of the sample workspace. */
  sample: string
  /** The path of the program. */
  program: string
}

/** Text for help and docs beyond arguments and options. */
export interface Explanation {
  /** Pairs of a command line and its effect. */
  examples: readonly (readonly [command: string, effect: string])[]
  /** Exit codes of this command besides 0, 1 and 2. */
  exits?: readonly ExitCode[]
  /** Sentences below the description. */
  more?: string
  /** The shared options: those of commands about cases (the default), or of commands that set something up. */
  shared?: readonly Option[]
}

const explanations = new WeakMap<Command, Explanation>()

/** Adds examples and shared options to a command. */
export function explain(command: Command, explanation: Explanation): Command {
  const { shared = caseOptions() } = explanation
  explanations.set(command, explanation)
  for (const option of shared) command.addOption(option.helpGroup(SHARED_OPTIONS))
  const width = () => process.stdout.columns || 80
  return command.addHelpText('after', () => `\n${wrapped(helpText(explanation), width())}`)
}

export function getExplanation(command: Command): Explanation | undefined {
  return explanations.get(command)
}

/** Adds subcommands, in the order of the help. */
export function withSubcommands(group: Command, commands: readonly Command[]): Command {
  for (const each of commands) group.addCommand(each)
  return group
}

/** The subcommand that runs if none is named. */
export function defaultSubcommand(command: Command): Command | undefined {
  // commander has no public way to read it
  const { _defaultCommandName: name } = command as unknown as { _defaultCommandName?: string }
  return command.commands.find((each) => each.name() === name)
}

export const SHARED_OPTIONS = 'Shared options:'

function helpText({ examples, exits = [], more }: Explanation): string {
  return [
    ...(more === undefined ? [] : [more, '']),
    examples.length === 1 ? 'Example:' : 'Examples:',
    ...exampleLines(examples),
    ...(exits.length === 0
      ? []
      : ['', `Exit codes: ${exits.map((code) => `${code} ${EXIT_MEANINGS[code]}`).join('; ')}.`]),
  ].join('\n')
}

const SCREEN = 80

/** Each effect beside its command, or below it if one of them does not fit on a line. */
function exampleLines(examples: Explanation['examples']): string[] {
  const width = Math.max(...examples.map(([command]) => command.length))
  const lines = examples.map(([command, effect]) => `  ${command.padEnd(width)}  ${effect}`)
  if (lines.every((line) => line.length <= SCREEN)) return lines
  return examples.flatMap(([command, effect]) => [`  ${command}`, `      ${effect}`])
}

/** Options of commands about cases. They find their workspace as git finds a repository. The help lists the usual ones. */
export function caseOptions(): Option[] {
  const rare = [memoryRootOption(), stateDirOption()].map((option) => option.hideHelp())
  return [nearestRootOption(), ...rare, jsonOption()]
}

export function caseArgument(): Argument {
  return new Argument('<case>', 'Its id, the start of its id, or part of its title.')
}

/** The same for a command that offers a choice without it. */
export function optionalCaseArgument(): Argument {
  return new Argument(
    '[case]',
    'Its id, the start of its id, or part of its title. Default: choose one.',
  )
}

export function sessionArgument(otherwise = 'the newest'): Argument {
  return new Argument('[session]', `Its number, its id, or latest. Default: ${otherwise}.`)
}

export function jsonOption(): Option {
  return new Option('--json', 'Output JSON, including errors.')
}

export function rootOption(): Option {
  return new Option('--root <dir>', 'Workspace folder.')
    .env('CASEFILE_ROOT')
    .default('.', 'the current folder')
    .argParser(parseFolder)
}

export function nearestRootOption(): Option {
  return new Option(
    '--root <dir>',
    'Workspace folder. Default: the nearest parent with casefile.md.',
  )
    .env('CASEFILE_ROOT')
    .argParser(parseFolder)
}

export function memoryRootOption(): Option {
  return new Option(
    '--memory-root <dir>',
    'Folder of the case files. Default: memory/ in the workspace.',
  )
    .env('CASEFILE_MEMORY_ROOT')
    .argParser(parseFolder)
}

export function stateDirOption(): Option {
  return new Option(
    '--state-dir <dir>',
    "Folder for this machine's own state. Default: below $XDG_STATE_HOME.",
  )
    .env('CASEFILE_STATE_DIR')
    .argParser(parseFolder)
}

/** An option that takes several values: repeated, or separated by commas. */
export function listOption(flags: string, description: string): Option {
  const collect = (text: string, before: string[] | undefined) => [
    ...(before ?? []),
    ...text.split(',').filter((each) => each !== ''),
  ]
  return new Option(flags, description).argParser(collect)
}

/** An option that takes a whole number from 1. */
export function countOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text) => {
    if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
    throw new InvalidArgumentError('Expected a whole number from 1.')
  })
}

/** Rejects an empty path, which would mean the current folder. */
function parseFolder(text: string): string {
  if (text !== '') return text
  throw new InvalidArgumentError('Expected a folder.')
}
