import { type Attention, attentionOf, runningSession } from './attention.ts'
import { type CaseValues, FILTERED, type FilteredField } from './case-fields.ts'
import { type CaseFolder, gateOf } from './case-folder.ts'
import type { CaseJson } from './case-json.ts'

/** A case in the list of what the operator is to look at. */
export interface TriageRow extends Pick<CaseValues, 'title' | FilteredField> {
  id: string
  /** When something was last written of it: case.md, the trail of a session, a proof. */
  updated_at: string
  created_at: string
  needs: Attention | null
  sessions: number
  /** Whether a session plans or executes on this machine. */
  running: boolean
  problems: number
  gate: { open: boolean; verified: number; missing: number }
}

export function triageRow(folder: CaseFolder, json: CaseJson): TriageRow {
  const { id, title, created_at } = json
  const gate = gateOf(folder)
  return {
    id,
    title,
    ...filteredValues(json),
    updated_at: lastTime(folder, json.updated_at),
    created_at,
    needs: attentionOf(folder, gate),
    sessions: folder.sessions.length,
    running: runningSession(folder) !== undefined,
    problems: folder.problems.length,
    gate: { open: gate.open, verified: gate.verified, missing: gate.missing.length },
  }
}

/** What lists are filtered by. */
export function filteredValues(
  values: Pick<CaseValues, FilteredField>,
): Pick<CaseValues, FilteredField> {
  const entries = FILTERED.map(({ name }) => [name, values[name as FilteredField]])
  return Object.fromEntries(entries) as Pick<CaseValues, FilteredField>
}

function lastTime({ sessions, proofs }: CaseFolder, updated_at: string): string {
  const ofSessions = sessions.map(({ trail, started_at }) => trail.at(-1)?.time ?? started_at)
  const ofProofs = proofs.map(({ verified_at, created_at }) => verified_at ?? created_at)
  return [...ofSessions, ...ofProofs].reduce((a, b) => (a > b ? a : b), updated_at)
}
