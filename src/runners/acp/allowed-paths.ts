import { resolve } from 'node:path'
import { isWithin } from '../../files/real-path.ts'
import { quotePath, resolveNamedPath } from '../agents/named-path.ts'
import { type CommandPaths, commandOutsideReason, isInGit } from './command-reach.ts'
import type { ToolCall } from './tool-call.ts'

/** The paths that an agent may use without asking the operator. */
export interface AllowedPaths extends CommandPaths {
  /** Forbidden folders, inside the working folder or not, with links resolved. */
  closed: readonly string[]
  /** A folder for temporary files that its tools may also write to, see `UserPlaces`. */
  scratch: string | null
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
    if (changesFiles(call) && isInGit(real, allowedPaths))
      return `${quotePath(path)} is one of git's own files in the working folder`
  }
  return commandsOutsideReason(commandsOf(call), call.folder ?? '.', allowedPaths)
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
  for (const word of commands.flatMap(wordsOf)) {
    const real = await resolveNamedPath(word, allowedPaths.workdir)
    if (real !== null && isClosed(real, allowedPaths))
      return `it names ${quotePath(word)}, in the memory of the cases`
  }
  return null
}

function isClosed(real: string, { workdir, closed }: AllowedPaths): boolean {
  return closed.some((folder) => isWithin(folder, real) && !isWithin(folder, workdir))
}

/**
 * Splits a command roughly, to find words that name a forbidden folder. A word without a slash counts only outside
 * of quoted text.
 */
function wordsOf(command: string): string[] {
  const split = (text: string) => text.split(/[\s'"`;|&<>()=,{}]+/).filter((word) => word !== '')
  const paths = split(command).filter((word) => word.includes('/'))
  const bare = split(command.replace(/(["'])[^"']*\s[^"']*\1/g, ' '))
  return [...new Set([...paths, ...bare])].slice(0, 1000)
}
