import type { FoundCaseJson } from '../../http/schemas/search.ts'
import { numberText } from '../../model/amounts.ts'
import type { PageAssets } from '../assets.ts'
import { CASES, searchPage } from '../shell/addresses.ts'
import { Breadcrumbs } from '../shell/breadcrumbs.tsx'
import { Page } from '../shell/page.tsx'
import { FoundCaseItem } from './found-case.tsx'

/** The result of a search; null before anything is searched. */
export type SearchOutcome = { total: number; found: FoundCaseJson[] } | { error: string } | null

/** How many results are shown at first, and how many "Show more" adds. */
export const RESULTS_STEP = 20
export const MOST_RESULTS = 1000

interface SearchPageProps {
  assets: PageAssets
  q: string
  outcome: SearchOutcome
}

/** The search page, with the best results first. */
export function SearchPage({ assets, q, outcome }: SearchPageProps) {
  return (
    <Page title={q === '' ? 'Search' : `${q} · Search`} assets={assets}>
      <Breadcrumbs above={[{ href: CASES, text: 'Cases' }]} current="Search" />
      <h1>Search</h1>
      <search class="search-box">
        <form id="search" method="get" action="/find">
          <input
            type="search"
            name="q"
            value={q}
            aria-label="Search"
            autocomplete="off"
            spellcheck={false}
            autofocus={q === ''}
          />
          <button type="submit">Search</button>
        </form>
      </search>
      {outcome === null ? null : 'error' in outcome ? (
        <p class="notice" data-tone="warn" role="alert">
          This search is not possible: {outcome.error}.
        </p>
      ) : outcome.total === 0 ? (
        <NothingFound />
      ) : (
        <Results q={q} {...outcome} />
      )}
      <Hint />
    </Page>
  )
}

function Results({ q, total, found }: { q: string; total: number; found: FoundCaseJson[] }) {
  const shown = found.length
  const isPart = shown < total
  return (
    <>
      <p class="small muted" role="status">
        {isPart
          ? `Top ${numberText(shown)} of ${numberText(total)} cases`
          : `${numberText(total)} ${total === 1 ? 'case' : 'cases'}`}
      </p>
      <ol class="found stack">
        {found.map((each, index) => (
          <FoundCaseItem of={each} number={index + 1} />
        ))}
      </ol>
      {isPart && shown < MOST_RESULTS && (
        <p>
          <a
            class="button"
            href={`${searchPage(q, Math.min(shown + RESULTS_STEP, MOST_RESULTS))}#result-${shown + 1}`}
          >
            Show more
          </a>
        </p>
      )}
    </>
  )
}

function NothingFound() {
  return (
    <section class="card list-empty">
      <h2>No matches</h2>
      <p role="status">No case matches this search.</p>
    </section>
  )
}

function Hint() {
  return (
    <p class="small muted">
      Searches titles, tags, descriptions, notes and other memory files, sessions and proof. Add
      filters such as <code>state:OPEN,BLOCKED</code>, <code>type:bug</code>, <code>tag:auth</code>{' '}
      or <code>outcome:ConfirmedCodeBug</code>.
    </p>
  )
}
