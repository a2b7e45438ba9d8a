import type { ApiReader } from '../../client/client.ts'
import type { SessionJson } from '../../http/schemas/session.ts'
import { visibleText } from '../../model/visible-text.ts'
import { isArtifactOf } from '../../runners/output/artifacts.ts'
import { unappliedText } from '../../worktrees/worktree-words.ts'
import { proofsOf } from '../resolve/proof.ts'
import { sessionsOf } from '../resolve/session.ts'

const MOST = 3

/**
 * The commands that bring a case nearer to proof: verify what is attached, or else attach what its newest session
 * offers. At least one.
 */
export async function nextProofCommands(client: ApiReader, caseId: string): Promise<string[]> {
  const name = caseId.slice(0, 8)
  const waiting = (await proofsOf(client, caseId)).filter(
    ({ verified, supports }) => !verified && supports,
  )
  if (waiting.length > 0) {
    return waiting
      .slice(0, MOST)
      .flatMap(({ id }) => [
        `casefile proof show ${name} ${id.slice(0, 8)}`,
        `casefile proof verify ${name} ${id.slice(0, 8)}`,
      ])
  }
  const complete = (await sessionsOf(client, caseId)).find(({ state }) => state === 'complete')
  const commands = complete ? attachCommands(complete) : []
  return commands.length > 0 ? commands : [`casefile proof add ${name} <file>`]
}

/** People copy these lines, and candidate names come from a file, so unusual names are left out. */
export function attachCommands({
  case_id,
  number,
  candidates,
}: Pick<SessionJson, 'case_id' | 'number' | 'candidates'>): string[] {
  const known = candidates.filter(({ artifact }) => isArtifactOf(artifact, number))
  const reports = known.filter(({ artifact }) => !artifact.endsWith('.log'))
  return (reports.length > 0 ? reports : known)
    .slice(0, MOST)
    .map(({ artifact }) => `casefile proof add ${case_id.slice(0, 8)} --artifact ${artifact}`)
}

/** A sentence and a command for each session of a case whose work is not in the working folder yet. */
export function unappliedWork(sessions: readonly WorkOfSession[]): {
  texts: string[]
  commands: string[]
} {
  const found = sessions.flatMap((session) => {
    const text = unappliedText(session)
    const command = `casefile worktree apply ${session.case_id.slice(0, 8)} ${session.number}`
    return text === null ? [] : [{ text: visibleText(text), command }]
  })
  return { texts: found.map(({ text }) => text), commands: found.map(({ command }) => command) }
}

type WorkOfSession = Pick<SessionJson, 'case_id' | 'number' | 'worktree'>

/** `Next: …` for one command, or `Next:` and the commands below it. */
export function nextText(commands: readonly string[]): string {
  if (commands.length === 1) return `Next: ${commands[0]}`
  return ['Next:', ...commands.map((command) => `  ${command}`)].join('\n')
}
