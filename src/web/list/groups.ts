import { isClosed } from '../../model/attention.ts'
import { CASE_STATES, type CaseState } from '../../model/case-state.ts'
import type { TriageRow } from '../../model/triage-row.ts'

/** The parts of the list in their order, and their headings. */
export const GROUPS = {
  needs: 'Needs you',
  running: 'Running',
  open: 'In hand',
  closed: 'Closed',
} as const

export type GroupName = keyof typeof GROUPS

/** A part of a group that is sent and shown as a whole. */
export interface Chunk {
  /** `open-200`: the group, and the place in it of the first row. */
  id: string
  /** The place of the first row in the whole list. */
  start: number
  rows: TriageRow[]
}

export interface Group {
  name: GroupName
  count: number
  chunks: Chunk[]
}

export const CHUNK_SIZE = 100

/** Rows in the order of `triageRows`, in groups; those without rows are left out. */
export function groupsOf(rows: readonly TriageRow[]): Group[] {
  const members: Record<GroupName, TriageRow[]> = { needs: [], running: [], open: [], closed: [] }
  const open = new Map<CaseState, TriageRow[]>([...WAY, ...CASE_STATES].map((state) => [state, []]))
  for (const row of rows) {
    const name = groupOf(row)
    if (name === 'open') open.get(row.state)!.push(row)
    else members[name].push(row)
  }
  members.open = [...open.values()].flat()
  let start = 0
  return (Object.keys(GROUPS) as GroupName[]).flatMap((name) => {
    const own = members[name]
    if (own.length === 0) return []
    const chunks = chunksOf(name, own, start)
    start += own.length
    return { name, count: own.length, chunks }
  })
}

/** The chunks that a page shows at first: from the one with that place on, until there are enough rows. */
export function firstChunks(groups: readonly Group[], from: number): Chunk[] {
  const shown: Chunk[] = []
  let rows = 0
  for (const chunk of groups.flatMap((group) => group.chunks)) {
    if (chunk.start + chunk.rows.length <= from || rows >= CHUNK_SIZE) continue
    shown.push(chunk)
    rows += chunk.rows.length
  }
  return shown
}

function groupOf({ needs, state }: TriageRow): GroupName {
  if (needs) return needs.kind === 'running' ? 'running' : 'needs'
  return isClosed(state) ? 'closed' : 'open'
}

/** What is furthest comes first. */
const WAY: readonly CaseState[] = ['VERIFYING', 'IMPLEMENTING', 'PLANNING', 'INVESTIGATING', 'OPEN']

function chunksOf(name: GroupName, rows: TriageRow[], start: number): Chunk[] {
  const chunks: Chunk[] = []
  for (let from = 0; from < rows.length; from += CHUNK_SIZE) {
    const part = rows.slice(from, from + CHUNK_SIZE)
    chunks.push({ id: `${name}-${from}`, start: start + from, rows: part })
  }
  return chunks
}
