import {
  ATTENTION_KINDS,
  type Attention,
  type AttentionKind,
  attentionOf,
  isAttentionKind,
  runningSession,
} from '../model/attention.ts'
import { type CaseFolder, gateOf, shownState } from '../model/case-folder.ts'
import { CASE_STATES, type CaseState } from '../model/case-state.ts'
import { Refusal } from '../model/refusal.ts'
import { caseFilter, type Query, valuesOf } from './case-filter.ts'
import type { HttpNeeds } from './needs.ts'
import { newestFirst } from './page.ts'
import { caseJson } from './present.ts'

/** A case in the list of what the operator is to look at. */
export interface TriageRow {
  id: string
  title: string
  type: string
  state: CaseState
  outcome: string | null
  tags: string[]
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

type TriageNeeds = Pick<HttpNeeds, 'catalog' | 'upkeep'>

interface SortedRows {
  version: number
  rows: TriageRow[]
}

const lists = new WeakMap<TriageNeeds, SortedRows>()
const known = new WeakMap<CaseFolder, TriageRow>()

/**
 * All cases, by what they need and then by `updated_at`, newest first. The very same array until
 * something changes.
 */
export async function triageRows(service: TriageNeeds): Promise<TriageRow[]> {
  await service.upkeep.current()
  const version = service.catalog.version()
  const list = lists.get(service)
  if (list?.version === version) return list.rows
  const rows = service.catalog
    .ids()
    .map((id) => rowOf(service, service.catalog.folder(id)!))
    .map((row) => ({ row, id: row.id, created_at: triagePlace(row) }))
    .sort(newestFirst)
    .map(({ row }) => row)
  lists.set(service, { version, rows })
  return rows
}

/**
 * The rows that a query asks for: by `needs` (kinds with commas, or `any`, which is all but `running`)
 * and by what `GET /cases` filters by. The same array as `triageRows` where it asks for nothing.
 */
export async function fittingRows(service: TriageNeeds, query: Query): Promise<TriageRow[]> {
  const wanted = wantedKinds(query)
  const fits = caseFilter(query)
  const rows = await triageRows(service)
  if (!wanted && !fits) return rows
  return rows.filter(({ id, needs }) => {
    if (wanted && (needs === null || !wanted.has(needs.kind))) return false
    const folder = service.catalog.folder(id)
    return !fits || (folder !== undefined && fits(caseJson(service, folder)))
  })
}

export interface TriageCounts {
  states: Record<CaseState, number>
  needs: Record<AttentionKind, number>
}

/** How many of the rows are in each state, and how many need what. */
export function triageCounts(rows: readonly TriageRow[]): TriageCounts {
  const states = zeros(CASE_STATES)
  const needs = zeros(ATTENTION_KINDS)
  for (const row of rows) {
    states[row.state]++
    if (row.needs) needs[row.needs.kind]++
  }
  return { states, needs }
}

/** By what the list is ordered, from high to low. */
export function triagePlace({ needs, updated_at }: TriageRow): string {
  const kind = needs ? ATTENTION_KINDS.indexOf(needs.kind) : ATTENTION_KINDS.length
  return `${ATTENTION_KINDS.length - kind} ${updated_at}`
}

function rowOf(service: TriageNeeds, folder: CaseFolder): TriageRow {
  const row = known.get(folder)
  if (row) return row
  const { id, title, type, outcome, tags, ...times } = caseJson(service, folder)
  const gate = gateOf(folder)
  const made: TriageRow = {
    ...{ id, title, type, state: shownState(folder), outcome, tags },
    updated_at: lastTime(folder, times.updated_at),
    created_at: times.created_at,
    needs: attentionOf(folder, gate),
    sessions: folder.sessions.length,
    running: runningSession(folder) !== undefined,
    problems: folder.problems.length,
    gate: { open: gate.open, verified: gate.verified, missing: gate.missing.length },
  }
  known.set(folder, made)
  return made
}

function lastTime({ sessions, proofs }: CaseFolder, updated_at: string): string {
  const ofSessions = sessions.map(({ trail, started_at }) => trail.at(-1)?.time ?? started_at)
  const ofProofs = proofs.map(({ verified_at, created_at }) => verified_at ?? created_at)
  return [...ofSessions, ...ofProofs].reduce((a, b) => (a > b ? a : b), updated_at)
}

export function wantedKinds(query: Query): ReadonlySet<AttentionKind> | null {
  const words = valuesOf(query, 'needs')
  if (!words?.length) return null
  return new Set(
    words.flatMap((word) => {
      if (word === 'any') return ATTENTION_KINDS.filter((kind) => kind !== 'running')
      if (isAttentionKind(word)) return word
      const expected = `expected any, or some of ${ATTENTION_KINDS.join(', ')}`
      const message = `${expected}; got ${JSON.stringify(word.slice(0, 60).toWellFormed())}`
      throw new Refusal('bad_request', `needs: ${message}.`, {
        errors: [{ path: 'needs', message }],
      })
    }),
  )
}

function zeros<K extends string>(keys: readonly K[]): Record<K, number> {
  return Object.fromEntries(keys.map((key) => [key, 0])) as Record<K, number>
}
