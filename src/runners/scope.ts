import { posix } from 'node:path'
import { Minimatch } from 'minimatch'
import { isInGit, type PlanScope } from '../model/scope.ts'
import { quotePath } from './agents/named-path.ts'
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
  let compiled = globs.get(scope)
  if (!compiled) {
    compiled = scope.paths.flatMap(globsOf).map((glob) => new Minimatch(glob, OPTIONS))
    globs.set(scope, compiled)
  }
  return compiled.some((glob) => glob.match(normal))
}

function globsOf(entry: string): string[] {
  const glob = entry.replace(/^(?:\.\/+)+/, '').replace(/(?<!\/)\/+$/, '')
  if (glob === '' || glob === '.') return ['**']
  const isFolder = entry.endsWith('/') || !/[*?[{]/.test(glob)
  return isFolder ? [glob, `${glob}/**`] : [glob]
}

/** A tool call, as far as the scope limits it. */
export interface ScopedAction {
  /** A file that it changes, relative to the working folder. */
  path?: string
  command?: string
  /** The working folder, to which absolute paths of the command are compared. */
  workdir?: string
  /** Where the command runs, relative to the working folder. */
  folder?: string
  /** Whether a command only reads, so that the list of commands does not limit it. */
  reads?: (command: SimpleCommand) => boolean
}

/** Why the scope does not allow the action, as a clause for the operator and the agent; null if it does. */
export function outsideScope(
  scope: PlanScope,
  { path, command, workdir, folder = '.', reads = () => false }: ScopedAction,
): string | null {
  if (path !== undefined && !isPathInScope(scope, path)) return pathReason(scope, path)
  return command === undefined ? null : commandReason(scope, command, { workdir, folder, reads })
}

function pathReason({ paths }: PlanScope, path: string, which = ''): string {
  return `${quotePath(path)}${which} is outside the scope of the plan (paths: ${listed(paths ?? [])})`
}

const CHANGES_FOLDER = /^(?:cd|pushd|popd)$/
/** Redirections that write no file. */
const NO_FILE = /^(?:\/dev\/(?:null|tty|std(?:out|err)|fd\/\d+))$/

interface CommandPlace {
  workdir: string | undefined
  /** Null if it is not known, after a `cd`. */
  folder: string | null
  reads(command: SimpleCommand): boolean
}

function commandReason(scope: PlanScope, command: string, place: CommandPlace): string | null {
  if (scope.commands === null && scope.paths === null) return null
  const commands = simpleCommands(command)
  if (commands === null) {
    return scope.commands === null
      ? null
      : `its command is too complex to compare with the scope of the plan (commands: ${listed(scope.commands)})`
  }
  let { folder } = place
  for (const each of commands) {
    const reads = place.reads(each) && !leavesFolder(each, { ...place, folder })
    if (CHANGES_FOLDER.test(each.words[0]?.text ?? '')) folder = null
    if (scope.commands !== null && !isAllowed(scope.commands, each) && !reads) {
      const shown = shortened(commandText(each)) || 'a redirection without a command'
      return `"${shown}" is outside the scope of the plan (commands: ${listed(scope.commands)})`
    }
    const file = each.written
      .filter((path) => !NO_FILE.test(path))
      .flatMap((path) => pathInFolder(path, { ...place, folder }) ?? [])
      .find((path) => !isPathInScope(scope, path))
    if (file !== undefined) return `it writes ${pathReason(scope, file, ', which')}`
  }
  return null
}

/** Whether a command may go to another folder than one in the working folder, where an allowed command does something else. */
function leavesFolder(
  { words: [first, to, ...more] }: SimpleCommand,
  place: CommandPlace,
): boolean {
  if (!CHANGES_FOLDER.test(first?.text ?? '')) return false
  if (!to || to.isExpanded || /^[~-]/.test(to.text) || more.length > 0) return true
  return pathInFolder(to.text, place) === null
}

/** The path relative to the working folder; null if it is outside, or not known: the scope does not limit it then. */
function pathInFolder(path: string, { workdir, folder }: CommandPlace): string | null {
  if (!posix.isAbsolute(path)) return folder === null ? null : posix.join(folder, path)
  const inside = workdir === undefined ? '..' : posix.relative(workdir, path)
  return inside.split('/')[0] === '..' ? null : inside
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
