import { resolve } from 'node:path'
import { isWithin } from '../../files/real-path.ts'
import { type CommandGround, isInGit, whyCommandOutside } from './command-reach.ts'
import { realOf, shown } from './named-path.ts'
import type { ToolCall } from './tool-call.ts'

/** Where an agent may work without asking anybody. */
export interface Ground extends CommandGround {
  /** Folders that it must not touch, inside the working folder or not, without links. */
  closed: readonly string[]
  /** Where its own tools may write besides: see `UserPlaces`. */
  scratch: string | null
}

/** Why a call is not all inside, in a clause for the operator; null where it is. */
export async function whyOutside(call: ToolCall, ground: Ground): Promise<string | null> {
  if (!call.isWhole) return 'it names more paths than are looked at'
  for (const path of call.paths) {
    const real = await realOf(path, ground.workdir)
    if (real === null) return `where ${shown(path)} leads is unknown`
    if (!isInside(real, ground)) return `${shown(path)} is outside the working folder`
    if (isClosed(real, ground)) return `${shown(path)} is in the memory of the cases`
    if (changesFiles(call) && isInGit(real, ground))
      return `${shown(path)} is git's own, in the working folder`
  }
  return whyCommandsOutside(commandsOf(call), call.folder ?? '.', ground)
}

function isInside(real: string, { workdir, scratch }: Ground): boolean {
  return isWithin(workdir, real) || (scratch !== null && isWithin(scratch, real))
}

/** Git itself may write its files when it is run; what they say, it does at its next run. */
function changesFiles({ kind }: ToolCall): boolean {
  return !['read', 'search', 'think', 'execute', 'fetch'].includes(kind ?? '')
}

/** Some, gemini for one, tell what they would run in the title only. */
function commandsOf({ commands, kind, title }: ToolCall): readonly string[] {
  return commands.length === 0 && kind === 'execute' && title ? [title] : commands
}

async function whyCommandsOutside(
  commands: readonly string[],
  folder: string,
  ground: Ground,
): Promise<string | null> {
  for (const command of commands) {
    const outside = await whyCommandOutside(command, resolve(ground.workdir, folder), ground)
    if (outside !== null) return outside
  }
  for (const word of commands.flatMap(wordsOf)) {
    const real = await realOf(word, ground.workdir)
    if (real !== null && isClosed(real, ground))
      return `it names ${shown(word)}, in the memory of the cases`
  }
  return null
}

function isClosed(real: string, { workdir, closed }: Ground): boolean {
  return closed.some((folder) => isWithin(folder, real) && !isWithin(folder, workdir))
}

/**
 * Roughly as a shell would take it apart: for words that name a closed folder, not for what it does.
 * A word without a slash is one only where it is not part of a quoted text.
 */
function wordsOf(command: string): string[] {
  const split = (text: string) => text.split(/[\s'"`;|&<>()=,{}]+/).filter((word) => word !== '')
  const paths = split(command).filter((word) => word.includes('/'))
  const bare = split(command.replace(/(["'])[^"']*\s[^"']*\1/g, ' '))
  return [...new Set([...paths, ...bare])].slice(0, 1000)
}
