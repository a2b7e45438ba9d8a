import { isAbsolute, relative, resolve } from 'node:path'
import { isWithin, nearestExisting } from '../../files/real-path.ts'
import { isInGit, isUnlimited, type PlanScope } from '../../model/scope.ts'
import { quotePath, resolveNamedPath } from '../agents/named-path.ts'
import { outsideScope } from '../outside-scope.ts'
import { isReading } from '../reading/commands.ts'
import type { SimpleCommand } from '../simple-commands.ts'
import { isStandingCommand } from '../within-standing.ts'
import { type CommandWord, commandWords } from './shell-words.ts'
import type { ToolCall } from './tool-call.ts'

const MAX_WORDS = 1000
const MAX_CHARACTERS = 200_000
const MAX_PATHS = 500
const DEVICE = /^\/dev\/(?:null|tty|std(?:in|out|err)|fd\/\d+)$/

/** The paths that an agent may use without asking the operator. */
export interface AllowedPaths {
  /** The working folder, with symbolic links resolved. */
  workdir: string
  /** Folders for temporary files, with links resolved. Commands may name paths in them, too. */
  temporary: readonly string[]
  /** Forbidden folders, inside the working folder or not, with links resolved. */
  closed: readonly string[]
  /** A folder for temporary files that its tools may also write to, see `UserTools`. */
  scratch: string | null
  /** What the plan limits the work to. */
  scope: PlanScope
}

/** Why a tool call reaches outside the allowed paths, as a clause for the operator; null if it does not. */
export async function outsideReason(
  call: ToolCall,
  allowedPaths: AllowedPaths,
): Promise<string | null> {
  if (!call.isWhole) return 'it names too many paths to check'
  for (const path of call.paths) {
    const real = await resolveNamedPath(path, allowedPaths.workdir)
    if (real === null) return `${quotePath(path)} cannot be resolved`
    if (!isInside(real, allowedPaths)) return `${quotePath(path)} is outside the working folder`
    if (isClosed(real, allowedPaths)) return `${quotePath(path)} is in the memory of the cases`
    if (changesFiles(call) && isInGit(relative(allowedPaths.workdir, real)))
      return `${quotePath(path)} is one of git's own files in the working folder`
  }
  return commandsOutsideReason(commandsOf(call), call.folder ?? '.', allowedPaths)
}

/** Why a tool call is outside the scope of the plan, as a clause; null if it is not. The agent may read all files. */
export async function scopeReason(
  call: ToolCall,
  { scope, workdir }: AllowedPaths,
): Promise<string | null> {
  if (isUnlimited(scope)) return null
  for (const path of changesFiles(call) ? call.paths : []) {
    const real = path === call.folder ? null : await resolveNamedPath(path, workdir)
    if (real === null || !isWithin(workdir, real)) continue // not the scope decides about it
    const reason = await outsideScope(scope, { path: relative(workdir, real) || '.' })
    if (reason !== null) return reason
  }
  const folder = relative(workdir, resolve(workdir, call.folder ?? '.')) || '.'
  const commands = commandsOf(call)
  if (call.kind === 'execute' && commands.length === 0 && scope.commands !== null) {
    return 'it does not name its command, and the scope of the plan limits the commands'
  }
  for (const command of commands) {
    if (scope.isStanding) {
      const intent = { paths: [], commands: scope.commands ?? [], proof: [] }
      if (folder === '.' && isStandingCommand(command, intent, [])) continue
      return `"${quotePath(command)}" is outside the standing intent that approved this plan, which allows commands exactly as they stand`
    }
    const reads = (each: SimpleCommand) => isReading(each, scope.commands ?? [])
    const reason = await outsideScope(scope, { command, workdir, folder, reads })
    if (reason !== null) return reason
  }
  return null
}

function isInside(real: string, { workdir, scratch }: AllowedPaths): boolean {
  return isWithin(workdir, real) || (scratch !== null && isWithin(scratch, real))
}

/**
 * Whether the call may write to `.git` itself. Running git is allowed; editing its hooks or settings is not, as git
 * would execute them.
 */
function changesFiles({ kind }: ToolCall): boolean {
  return !['read', 'search', 'think', 'execute', 'fetch'].includes(kind ?? '')
}

/** Some agents, such as Gemini CLI, name the command only in the title. */
function commandsOf({ commands, kind, title }: ToolCall): readonly string[] {
  return commands.length === 0 && kind === 'execute' && title ? [title] : commands
}

async function commandsOutsideReason(
  commands: readonly string[],
  folder: string,
  allowedPaths: AllowedPaths,
): Promise<string | null> {
  for (const command of commands) {
    const outside = await commandOutsideReason(
      command,
      resolve(allowedPaths.workdir, folder),
      allowedPaths,
    )
    if (outside !== null) return outside
  }
  for (const word of commands.flatMap(namesIn).slice(0, MAX_WORDS)) {
    const real = await resolveNamedPath(word, allowedPaths.workdir)
    if (real !== null && isClosed(real, allowedPaths))
      return `it names ${quotePath(word)}, in the memory of the cases`
  }
  return null
}

function isClosed(real: string, { workdir, closed }: AllowedPaths): boolean {
  return closed.some((folder) => isWithin(folder, real) && !isWithin(folder, workdir))
}

/** Words of a command that may name a forbidden folder. A word without a slash counts only outside of quotes. */
function namesIn(command: string): string[] {
  const parts = commandWords(command).flatMap(({ text, isQuoted }) =>
    text.split(/[=,{}]+/).filter((part) => part.includes('/') || (part !== '' && !isQuoted)),
  )
  return [...new Set(parts)]
}

/**
 * Why a command reaches outside the allowed folders, as a clause for the operator; null if it seems not to.
 * `folder` is where it runs. This is a guard rail, not a security boundary: it checks only the words of the
 * command, and a program can reach other files through a variable, a script or a link.
 */
async function commandOutsideReason(
  command: string,
  folder: string,
  allowedPaths: AllowedPaths,
): Promise<string | null> {
  if (command.length > MAX_CHARACTERS) return 'its command is too long to check'
  const named = new Map<string, NamedPath>()
  for (const word of commandWords(command)) {
    for (const path of pathsIn(word)) {
      named.set(JSON.stringify([path, word.isQuoted, word.isTarget, word.folder]), { path, word })
    }
  }
  if (named.size > MAX_PATHS) return 'its command names too many paths to check'
  for (const each of named.values()) {
    const outside = await pathOutsideReason(each, folder, allowedPaths)
    if (outside !== null) return outside
  }
  return null
}

/** The temporary folders of a run's environment, with links resolved. */
export async function temporaryFolders(own: string | undefined): Promise<string[]> {
  const named = ['/tmp', ...(own && isAbsolute(own) ? [own] : [])]
  const found = await Promise.all(named.map((path) => resolveNamedPath(path, '/')))
  return found.flatMap((path) => (path === null || path === '/' ? [] : [path]))
}

interface NamedPath {
  path: string
  word: CommandWord
}

async function pathOutsideReason(
  { path, word }: NamedPath,
  folder: string,
  allowedPaths: AllowedPaths,
): Promise<string | null> {
  if (DEVICE.test(path)) return null
  if (word.isQuoted && isAbsolute(path) && !(await isRooted(path))) return null
  const base = word.folder === '' ? folder : await resolveNamedPath(word.folder, folder)
  const real = base === null ? null : await resolveNamedPath(path, base)
  if (real === null) return `${quotePath(path)} cannot be resolved`
  if ([allowedPaths.workdir, ...allowedPaths.temporary].some((each) => isWithin(each, real))) {
    const isOfGit = word.isTarget && isInGit(relative(allowedPaths.workdir, real))
    return isOfGit ? `it writes ${quotePath(path)}, which belongs to git` : null
  }
  return `it names ${quotePath(path)}, which is outside the working folder`
}

/** Whether the path's first folder exists. If not, a quoted path is probably a URL route or a pattern. */
async function isRooted(path: string): Promise<boolean> {
  try {
    const { real, rest } = await nearestExisting(path)
    return real !== '/' || rest === ''
  } catch {
    return true // a path that cannot be inspected does exist
  }
}

/**
 * The parts of a word that may lead outside: the word itself, what follows `=`, what follows an option's letter.
 */
function pathsIn({ text, isProgram, isQuoted, isTarget }: CommandWord): string[] {
  if (isProgram || text.startsWith('PATH=')) return []
  const parts = text
    .split('=')
    .map((part) => part.replace(/^(?:@|-\w)(?=[/~$])/, ''))
    .map((part) => part.replace(/^\$(?:HOME\b|\{HOME\})/, '~').replace(/^\$(?:PWD\b|\{PWD\})/, '.'))
  const home = isQuoted ? /^~(?:\/|$)/ : /^~[\w-]*(?:\/|$)/
  const leads = (part: string) =>
    /^(?:\/|file:)/.test(part) || home.test(part) || /(?:^|\/)\.\.(?:\/|$)/.test(part)
  return parts.filter((part) => leads(part) || (isTarget && part !== ''))
}
