import type { TriageRow } from '../../model/triage-row.ts'
import { CaseChunk } from './case-chunk.tsx'
import { type Filters, listAddress } from './filters.ts'
import { type Chunk, GROUPS } from './groups.ts'
import type { Listing } from './listing.ts'
import { number } from './number-text.ts'

export type FilledChunks = ReadonlyMap<Chunk, readonly TriageRow[]>

interface CaseGroupsProps {
  list: Listing
  filters: Filters
  /** The chunks that are shown, with their rows; of the others there is only their place. */
  filled: FilledChunks
}

/** The cases that fit, under their headings. */
export function CaseGroups({ list, filters, filled }: CaseGroupsProps) {
  return (
    <>
      <div id="case-list" data-order={list.order}>
        {list.groups.map(({ name, count, chunks }) => (
          <section class="case-group" id={`group-${name}`} aria-labelledby={`heading-${name}`}>
            <h2 id={`heading-${name}`}>
              {GROUPS[name]} <span class="group-count">{number(count)}</span>
            </h2>
            <div class="case-rows">
              {chunks.map((chunk) => (
                <CaseChunk chunk={chunk} order={list.order} rows={filled.get(chunk)} />
              ))}
            </div>
          </section>
        ))}
      </div>
      <Pages list={list} filters={filters} filled={filled} />
    </>
  )
}

/** For readers without the script, which else fills the list as it is scrolled. */
function Pages({ list, filters, filled }: CaseGroupsProps) {
  const chunks = [...filled.keys()]
  const [first, last] = [chunks[0], chunks.at(-1)]
  if (!first || !last) return null
  const next = last.start + last.ids.length
  if (first.start === 0 && next >= list.fitting) return null
  return (
    <nav class="list-pages" aria-label="Pages">
      {first.start > 0 && <a href={listAddress(filters)}>First cases</a>}
      <span class="muted">
        {number(first.start + 1)} to {number(next)} of {number(list.fitting)}
      </span>
      {next < list.fitting && (
        <a href={listAddress(filters, {}, { from: next })} rel="next">
          Next cases
        </a>
      )}
    </nav>
  )
}
