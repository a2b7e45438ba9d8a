import { relative, resolve } from 'node:path'
import { isWithin } from '../../files/real-path.ts'
import { readPlan } from '../../markdown/plan-steps.ts'
import type { Settings } from '../../model/settings.ts'
import type { StandingIntent } from '../../model/standing.ts'
import type { HookTool } from '../../runners/agents/hooks/hook-event.ts'
import { resolveNamedPath } from '../../runners/agents/named-path.ts'
import { isPathInScope } from '../../runners/outside-scope.ts'
import { isStandingCommand, isWithinStanding, standingHash } from '../../runners/within-standing.ts'

/** What the audit trail says of a call within a standing intent. */
export function standingFields(standing: StandingIntent | undefined) {
  return standing && { approved_by: 'standing' as const, standing_sha256: standingHash(standing) }
}

/** The hash of a standing intent that a plan lies within; null if there is none, or if approvals must be signed. */
export async function standingOver(
  plan: string,
  { standing, signApprovals }: Pick<Settings, 'standing' | 'signApprovals'>,
): Promise<string | null> {
  if (standing.length === 0 || signApprovals) return null
  const { intent, errors } = await readPlan(plan)
  const found =
    intent && errors.length === 0 && standing.find((each) => isWithinStanding(intent, each))
  return found ? standingHash(found) : null
}

interface CallFolders {
  /** Where the agent is. */
  cwd: string
  /** The working folder, without symbolic links. */
  folder: string
  /** The folder of the records. */
  records: string
}

/** The standing intent that a call lies within, so that it needs no approval; null if there is none. */
export async function standingFor(
  { kind, name, isEditor, command, paths, folder: at }: HookTool,
  { standing, readingCommands }: Pick<Settings, 'standing' | 'readingCommands'>,
  { cwd, folder, records }: CallFolders,
): Promise<StandingIntent | null> {
  if (standing.length === 0) return null
  if (kind === 'execute') {
    // PowerShell quotes in another way, so its commands cannot be judged
    if (command === null || name.toLowerCase() === 'powershell') return null
    if (resolve(cwd, at ?? '.') !== folder) return null
    return standing.find((each) => isStandingCommand(command, each, readingCommands)) ?? null
  }
  // another tool, such as that of an MCP server, may change more than it names
  if (kind !== 'write' || !isEditor || paths.length === 0) return null
  const files: string[] = []
  for (const path of paths) {
    const real = await resolveNamedPath(path, cwd)
    if (real === null || !isWithin(folder, real) || isWithin(records, real)) return null
    files.push(relative(folder, real))
  }
  return standing.find((each) => files.every((file) => isStandingFile(file, each))) ?? null
}

/** Whether a file of the working folder may be written. */
export function isStandingFile(file: string, { paths }: StandingIntent): boolean {
  return isPathInScope({ paths: [...paths], commands: null, isStanding: true }, file)
}
