import { NEW_CASE } from '../shell/addresses.ts'
import type { Filters } from './filters.ts'
import { NEEDS_YOU } from './needs-you.ts'

/** What a workspace without a case says: how to begin. */
export function NoCasesYet() {
  return (
    <section class="card list-empty">
      <h2>No case yet</h2>
      <p>
        A case is one piece of work with its record: what was wrong, what was planned and approved,
        what was done, and the evidence that it works.
      </p>
      <ul>
        <li>
          <a href={NEW_CASE}>Open the first case</a> here, or with <code>casefile new</code> in a
          terminal.
        </li>
        <li>
          <code>casefile demo</code> shows the whole way from a case to its proof in a minute, in a
          workspace of its own.
        </li>
        <li>
          A folder <code>memory/cases/&lt;uuid&gt;/</code> with a <code>case.md</code> that you
          write yourself is a case too: <code>docs/files.md</code> says what stands in it.
        </li>
      </ul>
    </section>
  )
}

export function NothingFits({ filters }: { filters: Filters }) {
  const isOnlyNeeds =
    filters.needs[0] === NEEDS_YOU && Object.values(filters).flat().join('') === NEEDS_YOU
  return (
    <section class="card list-empty">
      <h2>{isOnlyNeeds ? 'Nothing needs you' : 'No case fits'}</h2>
      <p>
        {isOnlyNeeds
          ? 'No plan waits, nothing is stuck, and all evidence is judged.'
          : 'No case has all of what is asked for above.'}{' '}
        <a href="/" data-filter>
          Show all cases
        </a>
      </p>
    </section>
  )
}
