import type { ApiReader } from '../../client/client.ts'
import type { GateJson } from '../../http/schemas/case.ts'
import type { ProofHeadJson } from '../../http/schemas/proof.ts'
import type { SessionJson } from '../../http/schemas/session.ts'
import { RUNBOOK_FILE } from '../../model/memory-name.ts'
import { itemsMetBy, suggestProof, unmetText, unmetTypes } from '../../model/suggest-proof.ts'
import { visibleText } from '../../model/visible-text.ts'
import { isArtifactOf } from '../../runners/output/artifacts.ts'
import { unappliedText } from '../../worktrees/worktree-words.ts'
import { proofsOf } from '../resolve/proof.ts'
import { sessionsOf } from '../resolve/session.ts'

const MOST = 3

/** What brings a case nearer to proof. */
export interface NextProof {
  /** What no candidate would meet. */
  texts: string[]
  /** At least one, best first. */
  commands: string[]
}

export interface ProofState {
  id: string
  gate: GateJson
  proofs: readonly Pick<ProofHeadJson, 'id' | 'type' | 'verified' | 'supports' | 'sha256'>[]
  /** Newest first. */
  sessions: readonly Pick<SessionJson, 'number' | 'state' | 'candidates'>[]
  hasRunbook: boolean
}

/** Only what would satisfy an open item: proof that waits to be verified, then what sessions left. */
export async function nextProof(client: ApiReader, id: string): Promise<NextProof> {
  const gate: GateJson = (await client.request('GET', `/cases/${id}/gate`)).body
  const files: { filename: string }[] = (await client.request('GET', `/cases/${id}/memory`)).body
  return nextForProof({
    id,
    gate,
    proofs: await proofsOf(client, id),
    sessions: await sessionsOf(client, id),
    hasRunbook: files.some(({ filename }) => filename === RUNBOOK_FILE),
  })
}

export function nextForProof({ id, gate, proofs, sessions, hasRunbook }: ProofState): NextProof {
  const name = id.slice(0, 8)
  const waiting = proofs.filter(
    ({ type, verified, supports }) => !verified && supports && itemsMetBy(type, gate).length > 0,
  )
  const offered = sessions
    .filter(({ state }) => state === 'complete' || state === 'failed')
    // people copy these lines, and candidate names come from a file, so unusual names are left out
    .flatMap(({ number, candidates }) =>
      candidates.filter(({ artifact }) => isArtifactOf(artifact, number)),
    )
    .filter(({ sha256 }) => sha256 === null || proofs.every((proof) => proof.sha256 !== sha256))
  const unmet = unmetTypes(offered, gate)
  const commands = [
    ...waiting.flatMap((proof) => [
      `casefile proof show ${name} ${proof.id.slice(0, 8)}`,
      `casefile proof verify ${name} ${proof.id.slice(0, 8)}`,
    ]),
    ...suggestProof(offered, gate).map(
      ({ row }) => `casefile proof add ${name} --artifact ${row.artifact}`,
    ),
  ].slice(0, 2 * MOST)
  for (const { type } of unmet) {
    const shut = proofs.find((proof) => proof.type === type && !proof.supports)
    if (type === 'test-log')
      commands.push(`casefile start ${name}${startOption(sessions, hasRunbook)}`)
    else if (!shut) commands.push(`casefile proof add ${name} <file> --type ${type}`)
    if (shut) {
      commands.push(`casefile proof verify ${name} ${shut.id.slice(0, 8)} --accept "<reason>"`)
    }
  }
  return {
    texts: unmet.map((type) => visibleText(unmetText(type, offered))),
    commands: commands.length > 0 ? commands : [`casefile proof add ${name} <file>`],
  }
}

function startOption([newest]: ProofState['sessions'], hasRunbook: boolean): string {
  if (newest?.state === 'failed') return ' --again'
  return hasRunbook ? '' : ' --run-tests'
}

/** The texts, and the commands below them. */
export function nextProofText({ texts, commands }: NextProof): string {
  return [...texts, nextText(commands)].join('\n')
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
