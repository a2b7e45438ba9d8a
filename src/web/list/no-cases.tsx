import { NEW_CASE, searchPage } from '../shell/addresses.ts'
import type { Filters } from './filters.ts'

/** What a workspace without a case says: how to begin. */
export function NoCasesYet() {
  return (
    <section class="card list-empty">
      <h2>No cases yet</h2>
      <p>
        A case is one piece of work with its record: what was wrong, what was planned and approved,
        what was done, and the evidence that it works.
      </p>
      <ul>
        <li>
          <a href={NEW_CASE}>Create the first case</a> here, or run <code>casefile new</code> in a
          terminal.
        </li>
        <li>
          <code>casefile import</code> makes cases of GitHub issues.
        </li>
        <li>
          <code>casefile demo</code> shows the whole way from a case to its proof in a minute, in a
          temporary workspace.
        </li>
      </ul>
    </section>
  )
}

export function NothingFits({ filters }: { filters: Filters }) {
  const { q, ...lists } = filters
  const isOnlyWaiting = q === '' && Object.values(lists).flat().join() === 'waiting'
  return (
    <section class="card list-empty">
      <h2>{isOnlyWaiting ? 'Nothing is waiting for you' : 'No matches'}</h2>
      <p>
        {isOnlyWaiting
          ? 'No plan needs your approval, nothing is blocked, and nothing has failed.'
          : 'No case matches these filters. They look at titles and descriptions only.'}
      </p>
      <p>
        {q !== '' && (
          <a class="button primary" href={searchPage(q)}>
            Search all content for “{q}”
          </a>
        )}{' '}
        <a class="button" href="/" data-filter>
          Show all cases
        </a>
      </p>
    </section>
  )
}
