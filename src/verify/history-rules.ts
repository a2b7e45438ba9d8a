import { decodeUtf8 } from '../files/safe-read.ts'
import { readProof } from '../markdown/proof-file.ts'
import { readSession } from '../markdown/session-file.ts'
import { renumberedSession } from '../markdown/session-renumbering.ts'
import { readTrail, trailLineText } from '../markdown/trail.ts'
import type { Proof } from '../model/proof.ts'
import type { Session } from '../model/session.ts'
import { type LineWith, type TrailLine, trueLines } from '../model/trail.ts'
import type { FileVersion } from './record-history.ts'
import type { Failure } from './result.ts'

/**
 * Compares a session with every version of it that git has: a line of its trail stays word for word, and a sealed file
 * stays byte for byte, except that a session may get another number.
 */
export async function changedSession(
  session: Session,
  text: string,
  versions: readonly FileVersion[],
): Promise<Failure[]> {
  const present = new Set(linesOf(text).map(trailLineText))
  const gone = new Map<string, { line: TrailLine; commit: string }>()
  for (const { path, commit, bytes } of versions) {
    const earlier = sessionIn(path, bytes, session)
    if (!earlier) continue
    const seal = earlier.lines.find(isSeal)
    if (seal && earlier.text !== text && !(await isRenumbered(earlier, seal, text))) {
      const message = `The session was sealed in commit ${shortId(commit)}, and its file is another one now.`
      return [{ code: 'seal_broken', message }]
    }
    for (const line of earlier.lines) {
      const written = trailLineText(line)
      if (isReplaceable(line) || present.has(written) || gone.has(written)) continue
      gone.set(written, { line, commit })
    }
  }
  return gone.size === 0 ? [] : [{ code: 'trail_changed', message: goneText([...gone.values()]) }]
}

interface EarlierSession {
  number: number
  text: string
  lines: TrailLine[]
}

/** Null if the file was no session, or another one. */
function sessionIn(
  path: string,
  bytes: Buffer,
  { id, case_id, case_title }: Session,
): EarlierSession | null {
  const number = Number(/^sessions\/(\d+)\.md$/.exec(path)?.[1])
  const decoded = decodeUtf8(bytes)
  if (!Number.isInteger(number) || !decoded.ok) return null
  const created_at = new Date(0).toISOString()
  const { value } = readSession(decoded.text, { case_id, number, case_title, created_at })
  if (value?.id !== id) return null
  return { number, text: decoded.text, lines: linesOf(decoded.text) }
}

/** Whether the present text is what comes from giving the sealed one other numbers. */
async function isRenumbered(
  { number, text }: EarlierSession,
  { fields }: LineWith<'session_sealed'>,
  present: string,
): Promise<boolean> {
  const moves = linesOf(present).filter((line) => line.event === 'renumbered')
  const first = moves.findIndex((move) => move.fields.was_sealed === fields.sha256)
  if (first < 0) return false
  let from = number
  let moved = text
  for (const { fields, time } of moves.slice(first)) {
    if (typeof fields.to !== 'number') return false
    moved = await renumberedSession(moved, { from, to: fields.to, time })
    from = fields.to
  }
  return moved === present
}

/** The hash of a proof's content stays as it was when it was attached. */
export function changedProofs(
  proofs: readonly Proof[],
  versions: readonly FileVersion[],
): Failure[] {
  const byPath = new Map(proofs.map((proof) => [`proof/${proof.id}.md`, proof]))
  const failures = new Map<string, Failure>()
  for (const { path, commit, bytes } of versions) {
    const proof = byPath.get(path)
    const decoded = decodeUtf8(bytes)
    if (!proof || !decoded.ok || failures.has(path)) continue
    const { value } = readProof(decoded.text, proof)
    if (!value?.stamped || value.sha256 === proof.sha256) continue
    const message = `Proof ${proof.id.slice(0, 8)} has another content than in commit ${shortId(commit)}.`
    failures.set(path, { code: 'proof_changed', message })
  }
  return [...failures.values()]
}

/** The lines of a trail that count. */
function linesOf(text: string): TrailLine[] {
  return trueLines(readTrail(text)?.lines.map(({ line }) => line) ?? [])
}

/** A merge replaces these when it gives a session another number. */
function isReplaceable({ event }: TrailLine): boolean {
  return event === 'session_sealed' || event === 'renumbered'
}

function isSeal(line: TrailLine): line is LineWith<'session_sealed'> {
  return line.event === 'session_sealed'
}

const MAX_NAMED = 3

function goneText(gone: readonly { line: TrailLine; commit: string }[]): string {
  const named = gone
    .slice(0, MAX_NAMED)
    .map(({ line, commit }) => `${line.number} (${line.event}, in commit ${shortId(commit)})`)
  const more = gone.length > MAX_NAMED ? `, and ${gone.length - MAX_NAMED} more` : ''
  const lines = gone.length === 1 ? 'A line' : 'Lines'
  return `${lines} of the audit trail that git has ${gone.length === 1 ? 'is' : 'are'} gone or changed: ${named.join(', ')}${more}.`
}

export function shortId(commit: string): string {
  return commit.slice(0, 10)
}
