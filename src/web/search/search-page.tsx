import type { FoundCase } from '../../http/routes/search.ts'
import type { Assets } from '../assets.ts'
import { number } from '../list/number-text.ts'
import { CASES, searchPage } from '../shell/addresses.ts'
import { Page } from '../shell/page.tsx'
import { FoundCaseItem } from './found-case.tsx'
import { SearchBox } from './search-box.tsx'

/** What came of a search; null before anything is looked for. */
export type SearchOutcome = { total: number; found: FoundCase[] } | { refused: string } | null

interface SearchPageProps {
  assets: Pick<Assets, 'href'>
  q: string
  outcome: SearchOutcome
  /** Of what one page shows. */
  most: number
}

/** What was found in the texts of all cases, the best first. */
export function SearchPage({ assets, q, outcome, most }: SearchPageProps) {
  return (
    <Page title={q === '' ? 'Search' : `${q} · Search`} assets={assets} kind="search">
      <nav class="crumbs" aria-label="Where this is">
        <a href={CASES}>Cases</a>
      </nav>
      <h1>Search</h1>
      <SearchBox q={q} isFirst />
      {outcome === null ? (
        <Hint />
      ) : 'refused' in outcome ? (
        <p class="notice" data-kind="warn" role="alert">
          This cannot be searched for: {outcome.refused}.
        </p>
      ) : outcome.total === 0 ? (
        <NothingFound />
      ) : (
        <Results q={q} {...outcome} most={most} />
      )}
      {outcome !== null && <Hint />}
    </Page>
  )
}

function Results({ q, total, found, most }: { q: string; most: number } & Found) {
  const isPart = found.length < total
  return (
    <>
      <p class="small muted" role="status">
        {isPart ? `The best ${number(found.length)} of ${number(total)}` : number(total)}{' '}
        {total === 1 ? 'case' : 'cases'}
      </p>
      <ol class="found">
        {found.map((each) => (
          <FoundCaseItem of={each} />
        ))}
      </ol>
      {isPart && found.length < most && (
        <p>
          <a href={searchPage(q, most)}>Show up to {most}</a>
        </p>
      )}
    </>
  )
}

type Found = Extract<SearchOutcome, { found: unknown }>

function NothingFound() {
  return (
    <section class="card list-empty">
      <h2>Nothing found</h2>
      <p role="status">No case has any of these words, or none fits the filters among them.</p>
    </section>
  )
}

function Hint() {
  return (
    <p class="small muted">
      Titles, tags, descriptions, memory files, sessions and proof are searched. Narrow it with{' '}
      <code>state:OPEN,BLOCKED</code>, <code>type:bug</code>, <code>tag:auth</code> or{' '}
      <code>outcome:ConfirmedCodeBug</code> among the words.
    </p>
  )
}
