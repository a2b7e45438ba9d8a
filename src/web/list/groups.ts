import { LIST_GROUPS, type ListGroup } from '../../model/list-order.ts'

/** The headings of the groups. */
export const GROUPS: Record<ListGroup, string> = {
  needs: 'Needs you',
  running: 'Running',
  open: 'In hand',
  closed: 'Closed',
}

/** A part of a group that is sent and shown as a whole. */
export interface Chunk {
  /** `open-200`: the group, and the place in it of the first case. */
  id: string
  /** The place of the first case in the whole list. */
  start: number
  ids: string[]
}

export interface Group {
  name: ListGroup
  count: number
  chunks: Chunk[]
}

export const CHUNK_SIZE = 100

/** The cases in the order of the list, in groups of these sizes; those without cases are left out. */
export function groupsOf(ids: readonly string[], sizes: Record<ListGroup, number>): Group[] {
  let start = 0
  return LIST_GROUPS.flatMap((name) => {
    const count = sizes[name]
    if (count === 0) return []
    const chunks = chunksOf(name, ids.slice(start, start + count), start)
    start += count
    return {
      name,
      count,
      chunks,
    }
  })
}

/** The chunks that a page shows at first: from the one with that place on, until there are enough rows. */
export function firstChunks(groups: readonly Group[], from: number): Chunk[] {
  const shown: Chunk[] = []
  let rows = 0
  for (const chunk of groups.flatMap((group) => group.chunks)) {
    if (chunk.start + chunk.ids.length <= from || rows >= CHUNK_SIZE) continue
    shown.push(chunk)
    rows += chunk.ids.length
  }
  return shown
}

function chunksOf(name: ListGroup, ids: readonly string[], start: number): Chunk[] {
  const chunks: Chunk[] = []
  for (let from = 0; from < ids.length; from += CHUNK_SIZE) {
    const part = ids.slice(from, from + CHUNK_SIZE)
    chunks.push({ id: `${name}-${from}`, start: start + from, ids: part })
  }
  return chunks
}
