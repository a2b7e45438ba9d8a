import { CASE_STATES } from '../../model/case-state.ts'
import { outcomeLabel } from '../../model/outcomes.ts'
import { STATE_GROUP_LABELS, STATE_GROUPS, stateLabel } from '../../model/state-groups.ts'
import { SearchField } from '../search/search-field.tsx'
import { searchPage } from '../shell/addresses.ts'
import { type Filters, hasFilters, listAddress } from './filters.ts'
import type { Listing } from './listing.ts'
import { number } from './number-text.ts'
import { WordSelect } from './word-select.tsx'
import type { Words } from './words.ts'

interface FilterBarProps {
  filters: Filters
  list: Listing
  words: Words
}

/** What the list is narrowed by: a text and words in a form, the groups as links with counts. */
export function FilterBar({ filters, list, words }: FilterBarProps) {
  const { types, tags, outcomes } = words
  return (
    <search class="list-filters">
      <form id="filters" class="filter-form" method="get" action="/">
        <SearchField id="filter-q" value={filters.q} label="Search cases" />
        <WordSelect
          name="state"
          label="State"
          all="Any state"
          words={CASE_STATES}
          chosen={filters.state}
          text={stateLabel}
        />
        <WordSelect name="type" label="Type" all="Any type" words={types} chosen={filters.type} />
        <WordSelect name="tag" label="Tag" all="Any tag" words={tags} chosen={filters.tag} />
        <WordSelect
          name="outcome"
          label="Outcome"
          all="Any outcome"
          words={outcomes}
          chosen={filters.outcome}
          text={outcomeLabel}
        />
        {(['group', 'needs'] as const).map(
          (name) =>
            filters[name].length > 0 && (
              <input type="hidden" name={name} value={filters[name].join(',')} />
            ),
        )}
        <button type="submit" class="filter-submit">
          Search
        </button>
      </form>
      <GroupChips filters={filters} list={list} />
      <p class="filter-result" id="filter-result">
        <span role="status">{resultText(filters, list)}</span>{' '}
        {filters.q !== '' && (
          <a href={searchPage(filters.q)} data-full-text>
            Search all content for “{filters.q}”
          </a>
        )}{' '}
        {hasFilters(filters) && (
          <a href="/" data-filter>
            Clear filters
          </a>
        )}
      </p>
    </search>
  )
}

function GroupChips({ filters, list }: Omit<FilterBarProps, 'words'>) {
  const chosen = filters.group
  const all = STATE_GROUPS.reduce((sum, name) => sum + list.sizes[name], 0)
  return (
    <nav class="chips" aria-label="Filter by group">
      <Chip
        text="All"
        count={all}
        address={listAddress(filters, { group: [] })}
        current={chosen.length === 0}
      />
      {STATE_GROUPS.filter((name) => list.sizes[name] > 0 || chosen.includes(name)).map((name) => (
        <Chip
          text={STATE_GROUP_LABELS[name]}
          count={list.sizes[name]}
          address={listAddress(filters, { group: [name] })}
          current={chosen.includes(name)}
        />
      ))}
    </nav>
  )
}

interface ChipProps {
  text: string
  count: number
  address: string
  current: boolean
}

/** A filter as a link with the count of what it would show. */
function Chip({ text, count, address, current }: ChipProps) {
  return (
    <a class="chip" href={address} data-filter aria-current={current ? 'true' : undefined}>
      {text} <span class="chip-count">{number(count)}</span>
    </a>
  )
}

function resultText(filters: Filters, { fitting, total }: Listing): string {
  if (!hasFilters(filters)) return ''
  return `${number(fitting)} of ${number(total)} ${total === 1 ? 'case' : 'cases'}`
}
