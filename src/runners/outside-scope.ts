import { posix } from 'node:path'
import { Minimatch } from 'minimatch'
import { isInGit, type PlanScope } from '../model/scope.ts'
import { SETTINGS_FILE } from '../model/settings.ts'
import { quotePath } from './agents/named-path.ts'
import { startWalk } from './shell-folder.ts'
import { commandText, type SimpleCommand, simpleCommands } from './simple-commands.ts'

/** Every wildcard matches names that begin with a dot, too. */
const OPTIONS = {
  dot: true,
  noext: true,
  nonegate: true,
  nocomment: true,
  braceExpandMax: 1000,
  platform: 'linux',
} as const

const globs = new WeakMap<PlanScope, Minimatch[]>()

/** `path` is relative to the working folder. A folder in the scope has all its files in it. */
export function isPathInScope(scope: PlanScope, path: string): boolean {
  if (scope.paths === null) return true
  const normal = posix.normalize(path).replace(/\/$/, '')
  if (normal.startsWith('/') || normal.split('/')[0] === '..' || isInGit(normal)) return false
  if (scope.isStanding && isKeptFromStanding(normal)) return false
  let compiled = globs.get(scope)
  if (!compiled) {
    compiled = scope.paths.flatMap(globsOf).map((glob) => new Minimatch(glob, OPTIONS))
    globs.set(scope, compiled)
  }
  return compiled.some((glob) => glob.match(normal))
}

/** What is hidden may be settings of other programs. */
function isKeptFromStanding(path: string): boolean {
  return path === SETTINGS_FILE || path.split('/').some((word) => word.startsWith('.'))
}

function globsOf(entry: string): string[] {
  const glob = entry.replace(/^(?:\.\/+)+/, '').replace(/(?<!\/)\/+$/, '')
  if (glob === '' || glob === '.') return ['**']
  const isFolder = entry.endsWith('/') || !/[*?[{]/.test(glob)
  return isFolder ? [glob, `${glob}/**`] : [glob]
}

/** A tool call, as far as the scope limits it. */
export type ScopedAction =
  /** A file that it changes, relative to the working folder. */
  { path: string } | ScopedCommand

interface ScopedCommand {
  command: string
  /** The working folder, without symbolic links. */
  workdir: string
  /** Where the command runs, relative to the working folder. */
  folder?: string
  /** Whether a command only reads, so that the list of commands does not limit it. */
  reads?: (command: SimpleCommand) => boolean
}

/** Why the scope does not allow the action, as a clause for the operator and the agent; null if it does. */
export async function outsideScope(scope: PlanScope, action: ScopedAction): Promise<string | null> {
  if ('command' in action) return commandReason(scope, action)
  return isPathInScope(scope, action.path) ? null : pathReason(scope, action.path)
}

function pathReason({ paths, isStanding }: PlanScope, path: string, which = ' is'): string {
  const never = isStanding ? '; never hidden files' : ''
  return `${quotePath(path)}${which} outside the scope of the plan (paths: ${listed(paths ?? [])}${never})`
}

/** Redirections that write no file. */
const NO_FILE = /^(?:\/dev\/(?:null|tty|std(?:out|err)|fd\/\d+))$/

async function commandReason(
  scope: PlanScope,
  { command, workdir, folder = '.', reads = () => false }: ScopedCommand,
): Promise<string | null> {
  if (scope.commands === null && scope.paths === null) return null
  const commands = simpleCommands(command)
  if (commands === null) {
    return scope.commands === null
      ? null
      : `its command is too complex to compare with the scope of the plan (commands: ${listed(scope.commands)})`
  }
  const walk = await startWalk(command, workdir, folder)
  for (const each of commands) {
    const leaves = await walk.leaves(each)
    const mayRun = (allowed: string[]) =>
      !leaves && ((isAllowed(allowed, each) && !walk.isAway()) || reads(each))
    if (scope.commands !== null && !mayRun(scope.commands)) {
      const shown = shortened(commandText(each)) || 'a redirection without a command'
      const where = walk.isAway() ? ', outside the working folder,' : ''
      return `"${shown}"${where} is outside the scope of the plan (commands: ${listed(scope.commands)})`
    }
    for (const target of scope.paths === null ? [] : each.written) {
      if (NO_FILE.test(target.text)) continue
      const places = await walk.placesOf(target)
      if (places === null) return `it writes ${pathReason(scope, target.text, ', which may be')}`
      const path = places.find((place) => !isPathInScope(scope, place))
      const named = path?.split('/')[0] === '..' ? target.text : path
      if (named !== undefined) return `it writes ${pathReason(scope, named, ', which is')}`
    }
  }
  return null
}

/** Whether a command begins with the words of an allowed one. */
export function isAllowed(allowed: readonly string[], { words }: SimpleCommand): boolean {
  return allowed.some((entry) => {
    const first = simpleCommands(entry)?.[0]?.words ?? []
    return first.length > 0 && first.every(({ text }, index) => words[index]?.text === text)
  })
}

const SHOWN = 5

function listed(entries: readonly string[]): string {
  const more = entries.length > SHOWN ? ` and ${entries.length - SHOWN} more` : ''
  return `${entries.slice(0, SHOWN).map(shortened).join(', ') || 'none'}${more}`
}

function shortened(text: string): string {
  return text.length > 80 ? `${text.slice(0, 79).toWellFormed()}…` : text
}
