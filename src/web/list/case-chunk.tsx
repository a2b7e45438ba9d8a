import { CaseRow } from './case-row.tsx'
import type { Chunk } from './groups.ts'

interface CaseChunkProps {
  chunk: Chunk
  /** Of the listing that it is from. */
  order: string
  /** An empty one holds the place: the script fills it when it comes near. */
  filled: boolean
}

export function CaseChunk({ chunk, order, filled }: CaseChunkProps) {
  const { id, rows } = chunk
  return (
    <ul class="chunk" id={id} data-count={rows.length} data-order={filled ? order : undefined}>
      {filled && rows.map((row) => <CaseRow row={row} />)}
    </ul>
  )
}
