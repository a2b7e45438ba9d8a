import { type Attention, attentionOf, runningSession } from './attention.ts'
import { type CaseContents, gateOf, newest } from './case-contents.ts'
import { type CaseValues, FILTERED, type FilteredField } from './case-fields.ts'
import type { CaseJson } from './case-json.ts'
import { changedAt } from './session-failure.ts'

/** A row in the list of cases that need the operator. */
export interface TriageRow extends Pick<CaseValues, 'title' | FilteredField> {
  id: string
  /** The last change of case.md, of a session's audit trail, or of a proof. */
  updated_at: string
  created_at: string
  needs: Attention | null
  /** Since when it needs that; null if it needs nothing. */
  since: string | null
  sessions: number
  /** Whether a session plans or executes on this machine. */
  running: boolean
  problems: number
  gate: { open: boolean; verified: number; missing: number }
}

export function triageRow(contents: CaseContents, json: CaseJson): TriageRow {
  const { id, title, created_at } = json
  const gate = gateOf(contents)
  const needs = attentionOf(contents, gate)
  return {
    id,
    title,
    ...filteredValues(json),
    updated_at: lastTime(contents, json.updated_at),
    created_at,
    needs,
    since: needs && waitingSince(contents, needs, json.updated_at),
    sessions: contents.sessions.length,
    running: runningSession(contents) !== undefined,
    problems: contents.problems.length,
    gate: { open: gate.open, verified: gate.verified, missing: gate.missing.length },
  }
}

/** Returns the last change of the session or the newest proof concerned, else that of case.md. */
function waitingSince(
  { sessions, proofs }: CaseContents,
  { kind, session_id }: Attention,
  updated_at: string,
): string {
  const session = sessions.find(({ id }) => id === session_id)
  if (session) return changedAt(session)
  const proof = kind === 'proof' || kind === 'gate_open' ? newest(proofs) : undefined
  return proof?.verified_at ?? proof?.created_at ?? updated_at
}

/** Picks the fields by which lists are filtered. */
export function filteredValues(
  values: Pick<CaseValues, FilteredField>,
): Pick<CaseValues, FilteredField> {
  const entries = FILTERED.map(({ name }) => [name, values[name as FilteredField]])
  return Object.fromEntries(entries) as Pick<CaseValues, FilteredField>
}

function lastTime({ sessions, proofs }: CaseContents, updated_at: string): string {
  const ofSessions = sessions.map(({ trail, started_at }) => trail.at(-1)?.time ?? started_at)
  const ofProofs = proofs.map(({ verified_at, created_at }) => verified_at ?? created_at)
  return [...ofSessions, ...ofProofs].reduce((a, b) => (a > b ? a : b), updated_at)
}
