import type { TriageRow } from '../../model/triage-row.ts'
import { CaseRow } from './case-row.tsx'
import type { Chunk } from './groups.ts'

interface CaseChunkProps {
  chunk: Chunk
  /** Of the listing that it is from. */
  order: string
  /** Without them it holds the place: the script fills it when it comes near. */
  rows: readonly TriageRow[] | undefined
}

export function CaseChunk({ chunk, order, rows }: CaseChunkProps) {
  const { id, ids } = chunk
  return (
    <ul class="chunk" id={id} data-count={ids.length} data-order={rows ? order : undefined}>
      {rows?.map((row) => (
        <CaseRow row={row} />
      ))}
    </ul>
  )
}
