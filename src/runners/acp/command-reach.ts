import { isAbsolute, relative } from 'node:path'
import { isWithin, nearestExisting } from '../../files/real-path.ts'
import { type CommandWord, commandWords } from './command-words.ts'
import { realOf, shown } from './named-path.ts'

export interface CommandGround {
  /** The working folder, without links. */
  workdir: string
  /** Folders for files of no lasting value, without links: commands may name them too. */
  temporary: readonly string[]
}

const MAX_CHARACTERS = 200_000
const MAX_PATHS = 500
const DEVICE = /^\/dev\/(?:null|tty|std(?:in|out|err)|fd\/\d+)$/

/**
 * Why a command is not all inside, in a clause for the operator; null where it seems to be. `folder` is
 * where it runs. A guard rail and no wall: it looks at the words of the command, and a program may do
 * what no word of its command says, by a variable, a script or a link.
 */
export async function whyCommandOutside(
  command: string,
  folder: string,
  ground: CommandGround,
): Promise<string | null> {
  if (command.length > MAX_CHARACTERS) return 'its command is longer than what is looked at'
  const named = new Map<string, NamedPath>()
  for (const word of commandWords(command)) {
    for (const path of pathsIn(word)) {
      named.set(JSON.stringify([path, word.isQuoted, word.isTarget, word.folder]), { path, word })
    }
  }
  if (named.size > MAX_PATHS) return 'its command names more paths than are looked at'
  for (const each of named.values()) {
    const outside = await whyPathOutside(each, folder, ground)
    if (outside !== null) return outside
  }
  return null
}

/** Those of a run's environment, without links. */
export async function temporaryFolders(own: string | undefined): Promise<string[]> {
  const named = ['/tmp', ...(own && isAbsolute(own) ? [own] : [])]
  const found = await Promise.all(named.map((path) => realOf(path, '/')))
  return found.flatMap((path) => (path === null || path === '/' ? [] : [path]))
}

/** Whether a path is in the folder of a repository's own files, where git's hooks and settings are. */
export function isInGit(real: string, { workdir }: Pick<CommandGround, 'workdir'>): boolean {
  return relative(workdir, real).toLowerCase().split('/').includes('.git')
}

interface NamedPath {
  path: string
  word: CommandWord
}

async function whyPathOutside(
  { path, word }: NamedPath,
  folder: string,
  ground: CommandGround,
): Promise<string | null> {
  if (DEVICE.test(path)) return null
  if (word.isQuoted && isAbsolute(path) && !(await isRooted(path))) return null
  const base = word.folder === '' ? folder : await realOf(word.folder, folder)
  const real = base === null ? null : await realOf(path, base)
  if (real === null) return `where ${shown(path)} leads is unknown`
  if ([ground.workdir, ...ground.temporary].some((each) => isWithin(each, real))) {
    const isOfGit = word.isTarget && isInGit(real, ground)
    return isOfGit ? `it writes ${shown(path)}, which is git's own` : null
  }
  return `it names ${shown(path)}, which is outside the working folder`
}

/** In quotes a path of which not even the first folder exists is a route, or a pattern. */
async function isRooted(path: string): Promise<boolean> {
  try {
    const { real, rest } = await nearestExisting(path)
    return real !== '/' || rest === ''
  } catch {
    return true // whatever keeps it from being looked at is there
  }
}

/** What of a word may lead outside: in it, behind `=`, behind the letter of an option. */
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
