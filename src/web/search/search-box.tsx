import { SEARCH } from '../shell/addresses.ts'

/** The full text search, which the browser itself sends. */
export function SearchBox({ q = '', isFirst = false }: { q?: string; isFirst?: boolean }) {
  return (
    <search class="search-box">
      <form id="search" method="get" action={SEARCH} data-keep={isFirst ? undefined : ''}>
        <div class="filter-text">
          <label class="visually-hidden" for="search-q">
            Search everything
          </label>
          <input
            id="search-q"
            type="search"
            name="q"
            value={q}
            placeholder="Search everything"
            autocomplete="off"
            spellcheck={false}
            autofocus={isFirst && q === ''}
            data-key="f"
            data-key-name="Search everything"
          />
          <kbd class="needs-script">f</kbd>
        </div>
        <button type="submit">Search</button>
      </form>
    </search>
  )
}
