import { isAbsolute, relative } from 'node:path'
import { isWithin, nearestExisting } from '../../files/real-path.ts'
import { quotePath, resolveNamedPath } from '../agents/named-path.ts'
import { type CommandWord, commandWords } from './command-words.ts'

export interface CommandPaths {
  /** The working folder, with symbolic links resolved. */
  workdir: string
  /** Folders for temporary files, with links resolved. Commands may name paths in them, too. */
  temporary: readonly string[]
}

const MAX_CHARACTERS = 200_000
const MAX_PATHS = 500
const DEVICE = /^\/dev\/(?:null|tty|std(?:in|out|err)|fd\/\d+)$/

/**
 * Why a command reaches outside the allowed folders, as a clause for the operator; null if it seems not to.
 * `folder` is where it runs. This is a guard rail, not a security boundary: it checks only the words of the
 * command, and a program can reach other files through a variable, a script or a link.
 */
export async function commandOutsideReason(
  command: string,
  folder: string,
  allowedPaths: CommandPaths,
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

/** Whether a path is inside a `.git` folder, where git keeps hooks and settings. */
export function isInGit(real: string, { workdir }: Pick<CommandPaths, 'workdir'>): boolean {
  return relative(workdir, real).toLowerCase().split('/').includes('.git')
}

interface NamedPath {
  path: string
  word: CommandWord
}

async function pathOutsideReason(
  { path, word }: NamedPath,
  folder: string,
  allowedPaths: CommandPaths,
): Promise<string | null> {
  if (DEVICE.test(path)) return null
  if (word.isQuoted && isAbsolute(path) && !(await isRooted(path))) return null
  const base = word.folder === '' ? folder : await resolveNamedPath(word.folder, folder)
  const real = base === null ? null : await resolveNamedPath(path, base)
  if (real === null) return `${quotePath(path)} cannot be resolved`
  if ([allowedPaths.workdir, ...allowedPaths.temporary].some((each) => isWithin(each, real))) {
    const isOfGit = word.isTarget && isInGit(real, allowedPaths)
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
