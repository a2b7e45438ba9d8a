import type { Assets } from '../assets.ts'
import type { PageDeps } from '../deps.ts'
import { changesOf, NEW_CASE } from '../shell/addresses.ts'
import { Page } from '../shell/page.tsx'
import { AttentionIcons } from './attention-icons.tsx'
import { CaseGroups } from './case-groups.tsx'
import { FilterBar } from './filter-bar.tsx'
import { type Filters, hasFilters } from './filters.ts'
import type { Listing } from './listing.ts'
import { NoCasesYet, NothingFits } from './no-cases.tsx'
import type { RowFacts } from './row-facts.ts'
import type { Words } from './words.ts'
import { WorkspaceNotice } from './workspace-notice.tsx'

interface ListPageProps {
  service: PageDeps['service']
  assets: Pick<Assets, 'href' | 'workspace'>
  filters: Filters
  list: Listing
  words: Words
  facts: ReadonlyMap<string, RowFacts>
}

/** The cases, those first that wait for the operator. */
export function ListPage({ service, assets, filters, list, words, facts }: ListPageProps) {
  const { waiting } = list.sizes
  const isBare = list.total === 0 && !hasFilters(filters)
  return (
    <Page
      title={waiting > 0 ? `(${waiting}) Cases` : 'Cases'}
      assets={assets}
      kind="cases"
      live={changesOf()}
    >
      <div class="list-head">
        <h1>Cases</h1>
        <a class="button primary" href={NEW_CASE}>
          New case
        </a>
      </div>
      <WorkspaceNotice service={service} />
      <AttentionIcons />
      {isBare ? (
        <NoCasesYet />
      ) : (
        <>
          <FilterBar filters={filters} list={list} words={words} />
          {list.fitting === 0 && <NothingFits filters={filters} />}
          <CaseGroups list={list} filters={filters} facts={facts} />
        </>
      )}
    </Page>
  )
}
