import { ATTENTION_KINDS } from '../../model/attention.ts'
import { CASE_STATES } from '../../model/case-state.ts'
import { stateLabel } from '../../model/state-groups.ts'
import { searchPage } from '../shell/addresses.ts'
import { AttentionIcon } from './attention-icons.tsx'
import { ATTENTION_WORDS } from './attention-words.ts'
import { Chip } from './chip.tsx'
import { type Filters, hasFilters, listAddress, toggled } from './filters.ts'
import type { Listing } from './listing.ts'
import { NEEDS_YOU } from './needs-you.ts'
import { number } from './number-text.ts'
import { WordSelect } from './word-select.tsx'
import type { Words } from './words.ts'

interface FilterBarProps {
  filters: Filters
  list: Listing
  words: Words
}

type ChipsProps = Omit<FilterBarProps, 'words'>

/** What the list is narrowed by: a text and words in a form, needs and states as links with counts. */
export function FilterBar({ filters, list, words }: FilterBarProps) {
  const { types, tags, outcomes } = words
  return (
    <search class="list-filters">
      <form id="filters" class="filter-form" method="get" action="/">
        <div class="filter-text">
          <label class="visually-hidden" for="filter-q">
            Search titles and descriptions
          </label>
          <input
            id="filter-q"
            type="search"
            name="q"
            value={filters.q}
            placeholder="Search titles and descriptions"
            autocomplete="off"
            spellcheck={false}
            data-key="/"
            data-key-name="Search"
          />
          <kbd class="needs-script">/</kbd>
        </div>
        <WordSelect name="type" label="Type" all="Any type" words={types} chosen={filters.type} />
        <WordSelect name="tag" label="Tag" all="Any tag" words={tags} chosen={filters.tag} />
        <WordSelect
          name="outcome"
          label="Outcome"
          all="Any outcome"
          words={outcomes}
          chosen={filters.outcome}
        />
        {(['needs', 'state'] as const).map(
          (name) =>
            filters[name].length > 0 && (
              <input type="hidden" name={name} value={filters[name].join(',')} />
            ),
        )}
        <button type="submit" class="filter-submit">
          Search
        </button>
      </form>
      <NeedsChips filters={filters} list={list} />
      <StateChips filters={filters} list={list} />
      <p class="filter-result" id="filter-result">
        <span role="status">{resultText(filters, list)}</span>{' '}
        {hasFilters(filters) && (
          <a href="/" data-filter>
            Clear filters
          </a>
        )}{' '}
        {filters.q !== '' && <a href={searchPage(filters.q)}>Search everything for it</a>}
      </p>
    </search>
  )
}

function NeedsChips({ filters, list }: ChipsProps) {
  const chosen = filters.needs.join(',')
  const forYou = ATTENTION_KINDS.filter((kind) => kind !== 'running')
  const sum = forYou.reduce((all, kind) => all + list.needs[kind], 0)
  const to = (needs: string[]) => listAddress(filters, { needs })
  return (
    <nav class="chips" aria-label="By what is needed">
      <Chip text="All" count={list.anyNeed} address={to([])} current={chosen === ''} />
      <Chip text="Needs you" count={sum} address={to([NEEDS_YOU])} current={chosen === NEEDS_YOU} />
      {ATTENTION_KINDS.filter((kind) => list.needs[kind] > 0 || chosen === kind).map((kind) => (
        <Chip
          text={ATTENTION_WORDS[kind]}
          count={list.needs[kind]}
          address={to([kind])}
          current={chosen === kind}
        >
          <AttentionIcon kind={kind} />
        </Chip>
      ))}
    </nav>
  )
}

function StateChips({ filters, list }: ChipsProps) {
  return (
    <nav class="chips state-chips" aria-label="By state">
      {CASE_STATES.filter((state) => list.states[state] > 0 || filters.state.includes(state)).map(
        (state) => (
          <Chip
            text={stateLabel(state)}
            count={list.states[state]}
            address={listAddress(filters, { state: toggled(filters.state, state) })}
            current={filters.state.includes(state)}
          />
        ),
      )}
    </nav>
  )
}

function resultText(filters: Filters, { fitting, total }: Listing): string {
  if (!hasFilters(filters)) return ''
  return `${number(fitting)} of ${number(total)} ${total === 1 ? 'case' : 'cases'}`
}
