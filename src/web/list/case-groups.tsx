import { numberText } from '../../model/amounts.ts'
import { needYouText, STATE_GROUP_LABELS, STATE_GROUP_TONES } from '../../model/state-groups.ts'
import { HelpLink } from '../shell/help-link.tsx'
import { CaseRow } from './case-row.tsx'
import { type Listing, PAGE_SIZE } from './data.ts'
import { type Filters, listAddress } from './filters.ts'
import type { RowFacts } from './row-facts.ts'

interface CaseGroupsProps {
  list: Listing
  filters: Filters
  facts: ReadonlyMap<string, RowFacts>
}

/** The cases of one page of the list, by group. */
export function CaseGroups({ list, filters, facts }: CaseGroupsProps) {
  return (
    <>
      <div class="stack" id="case-list">
        {list.groups.map(({ name, rows }) => (
          <section class="case-group" id={`group-${name}`} aria-labelledby={`heading-${name}`}>
            <h2 id={`heading-${name}`} class="row" data-tone={STATE_GROUP_TONES[name]}>
              {name === 'waiting' ? (
                needYouText(list.sizes[name])
              ) : (
                <>
                  {STATE_GROUP_LABELS[name]}{' '}
                  <span class="group-count">{numberText(list.sizes[name])}</span>
                </>
              )}
            </h2>
            {name === 'waiting' && <HelpLink topic="waiting" />}
            <ul class="case-rows">
              {rows.map((row) => (
                <CaseRow row={row} group={name} facts={facts.get(row.id) ?? {}} />
              ))}
            </ul>
          </section>
        ))}
      </div>
      {list.pages > 1 && <Pages list={list} filters={filters} />}
    </>
  )
}

function Pages({
  list: { page, pages, fitting },
  filters,
}: Pick<CaseGroupsProps, 'list' | 'filters'>) {
  const first = (page - 1) * PAGE_SIZE + 1
  const last = Math.min(page * PAGE_SIZE, fitting)
  return (
    <nav class="list-pages row" id="list-pages" aria-label="Pages">
      {page > 1 && (
        <a
          class="button"
          href={listAddress(filters, {}, page - 1)}
          rel="prev"
          data-filter
          data-key="["
          data-key-name="Previous page"
        >
          Previous
        </a>
      )}
      <span class="muted">
        {numberText(first)}–{numberText(last)} of {numberText(fitting)} · page {numberText(page)} of{' '}
        {numberText(pages)}
      </span>
      {page < pages && (
        <a
          class="button"
          href={listAddress(filters, {}, page + 1)}
          rel="next"
          data-filter
          data-key="]"
          data-key-name="Next page"
        >
          Next page
        </a>
      )}
    </nav>
  )
}
