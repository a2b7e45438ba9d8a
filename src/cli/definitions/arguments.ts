import { Argument, Command, InvalidArgumentError, Option } from 'commander'

/** A command about cases: with a service that runs, or for as long as it takes as one itself. */
export function consoleCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .addOption(consoleRootOption())
    .addOption(memoryRootOption())
    .addOption(stateDirOption())
    .addOption(jsonOption())
}

export function caseArgument(): Argument {
  return new Argument('<case>', 'its id, the beginning of it, or a part of its title')
}

export function sessionArgument(otherwise = 'the newest'): Argument {
  return new Argument('[session]', `its number, its id, or latest; ${otherwise} if not given`)
}

export function jsonOption(): Option {
  return new Option('--json', 'print one JSON document, also for a refusal')
}

/** Of the commands that set something up: they never look for a workspace. */
export function rootOption(): Option {
  return new Option('--root <dir>', 'the workspace')
    .env('CASEFILE_ROOT')
    .default('.', 'the current folder')
    .argParser(folderOf)
}

export function consoleRootOption(): Option {
  return new Option('--root <dir>', 'the workspace (default: the nearest one upwards from here)')
    .env('CASEFILE_ROOT')
    .argParser(folderOf)
}

export function memoryRootOption(): Option {
  return new Option(
    '--memory-root <dir>',
    'where the files are (default: memory/ in the workspace)',
  )
    .env('CASEFILE_MEMORY_ROOT')
    .argParser(folderOf)
}

export function stateDirOption(): Option {
  return new Option(
    '--state-dir <dir>',
    "this machine's own state (default: below $XDG_STATE_HOME)",
  )
    .env('CASEFILE_STATE_DIR')
    .argParser(folderOf)
}

/** For an option that takes several values, one each or with commas. */
export function listed(text: string, before: string[] | undefined): string[] {
  return [...(before ?? []), ...text.split(',').filter((each) => each !== '')]
}

/** An empty name would be taken for the workspace itself. */
function folderOf(text: string): string {
  if (text !== '') return text
  throw new InvalidArgumentError('Expected a folder.')
}
