import { numberText } from '../../model/amounts.ts'
import { FILTERED, type FilterName, type NamedField } from '../../model/case-fields.ts'
import { outcomeLabel } from '../../model/outcomes.ts'
import { STATE_GROUP_LABELS, STATE_GROUPS, stateLabel } from '../../model/state-groups.ts'
import { SearchField } from '../search/search-field.tsx'
import { searchPage } from '../shell/addresses.ts'
import type { Listing } from './data.ts'
import { type Filters, hasFilters, listAddress, type Words } from './filters.ts'

interface FilterBarProps {
  filters: Filters
  list: Listing
  words: Words
}

/** The filters: a form with a text and values of fields, and the groups as links with counts. */
export function FilterBar({ filters, list, words }: FilterBarProps) {
  return (
    <search class="list-filters stack">
      <form id="filters" class="filter-form row" method="get" action="/">
        <SearchField id="filter-q" value={filters.q} label="Search cases" />
        {FILTERED.map((field) => (
          <FieldSelect field={field} words={words} filters={filters} />
        ))}
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
        {filters.q !== '' && list.fitting > 0 && (
          <a href={searchPage(filters.q)}>Show matching lines</a>
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

/** How the values of a field are shown; as they are if it is not here. */
const LABELS: Partial<Record<FilterName, (value: string) => string>> = {
  state: stateLabel,
  outcome: outcomeLabel,
}

interface FieldSelectProps {
  field: NamedField
  words: Words
  filters: Filters
}

/** The values that cases have in a field, and the one in the address. Nothing if there are none. */
function FieldSelect({ field, words, filters }: FieldSelectProps) {
  const name = field.filter as FilterName
  const value = filters[name].join(',')
  const options =
    value === '' || words[name].includes(value) ? words[name] : [value, ...words[name]]
  if (options.length === 0) return null
  const id = `filter-${name}`
  const label = LABELS[name] ?? ((text) => text)
  return (
    <div class="filter-word">
      <label class="visually-hidden" for={id}>
        {field.label}
      </label>
      <select id={id} name={name}>
        <option value="" selected={value === ''}>
          Any {name}
        </option>
        {options.map((option) => (
          <option value={option} selected={option === value}>
            {option.split(',').map(label).join(', ')}
          </option>
        ))}
      </select>
    </div>
  )
}

function GroupChips({ filters, list }: Omit<FilterBarProps, 'words'>) {
  const chosen = filters.group
  const all = STATE_GROUPS.reduce((sum, name) => sum + list.sizes[name], 0)
  return (
    <nav class="chips row" aria-label="Filter by group">
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

/** A link that sets a filter, with the number of cases that it would show. */
function Chip({ text, count, address, current }: ChipProps) {
  return (
    <a class="chip" href={address} data-filter aria-current={current ? 'true' : undefined}>
      {text} <span class="chip-count">{numberText(count)}</span>
    </a>
  )
}

function resultText(filters: Filters, { fitting, total }: Listing): string {
  if (!hasFilters(filters)) return ''
  return `${numberText(fitting)} of ${numberText(total)} ${total === 1 ? 'case' : 'cases'}`
}
