import { numberText } from '../../model/amounts.ts'
import { FILTERED, type FilterName, type NamedField } from '../../model/case-fields.ts'
import { outcomeLabel } from '../../model/outcomes.ts'
import { STATE_GROUP_LABELS, STATE_GROUPS, stateLabel } from '../../model/state-groups.ts'
import { Field } from '../shell/field.tsx'
import type { Listing } from './data.ts'
import { type Filters, hasFilters, listAddress, type Words } from './filters.ts'

interface FilterBarProps {
  filters: Filters
  list: Listing
  words: Words
}

/** The groups as links with counts, and the values of fields in a menu. */
export function FilterBar({ filters, list, words }: FilterBarProps) {
  return (
    <search class="list-filters stack">
      <div class="row">
        <GroupChips filters={filters} list={list} />
        <FilterMenu filters={filters} words={words} />
      </div>
      <p class="filter-result" id="filter-result">
        <span role="status">{resultText(filters, list)}</span>{' '}
        {hasFilters(filters) && (
          <a href="/" data-filter>
            Clear filters
          </a>
        )}
      </p>
    </search>
  )
}

function FilterMenu({ filters, words }: Omit<FilterBarProps, 'list'>) {
  const chosen = FILTERED.filter(({ filter }) => filters[filter as FilterName].length > 0)
  return (
    <details class="filter-menu" id="filter-menu">
      <summary class="chip" data-key="f">
        Filter{chosen.length > 0 && <span class="chip-count"> {chosen.length}</span>}
      </summary>
      <form id="filters" class="card form" method="get" action="/">
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
          Show
        </button>
      </form>
    </details>
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
    <Field id={id} label={field.label}>
      <select id={id} name={name}>
        <option value="" selected={value === ''}>
          Any
        </option>
        {options.map((option) => (
          <option value={option} selected={option === value}>
            {option.split(',').map(label).join(', ')}
          </option>
        ))}
      </select>
    </Field>
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
