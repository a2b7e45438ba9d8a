import type { Attention } from '../../model/attention.ts'
import { outcomeLabel } from '../../model/outcomes.ts'
import {
  IN_LINE,
  NEED_LABELS,
  STATE_GROUP_LABELS,
  type StateGroup,
  stateLabel,
} from '../../model/state-groups.ts'
import type { TriageRow } from '../../model/triage-row.ts'
import { directionOf } from '../../rendering/direction.ts'
import { visibleName, visibleProse } from '../../rendering/hidden-characters.ts'
import { casePage, casesWithTag, sessionPage } from '../shell/addresses.ts'
import { SourceLink } from '../shell/source-link.tsx'
import { Time } from '../shell/time.tsx'
import { AttentionIcon } from './attention-icons.tsx'
import type { RowFacts } from './row-facts.ts'

const TAGS = 2

interface CaseRowProps {
  row: TriageRow
  group: StateGroup
  facts: RowFacts
}

/** A case on one line, with what it waits for on a second. The time is the one that its group is sorted by. */
export function CaseRow({ row, group, facts }: CaseRowProps) {
  const { id, needs, type } = row
  const tags = row.tags.filter((tag) => tag.toLowerCase() !== type.toLowerCase())
  const shownTags = tags.slice(0, TAGS)
  const others = tags.slice(TAGS)
  return (
    <li class="case-row" id={`case-${id}`}>
      <span class="row-what stack">
        <a class="row-title" data-row href={casePage(id)} dir={directionOf(row.title)}>
          {visibleProse(row.title)}
        </a>
        {needs && <Need row={row} needs={needs} group={group} facts={facts} />}
      </span>
      <span class="row-tags">
        {facts.source && <SourceLink source={facts.source} />}
        {shownTags.map((tag) => (
          <a
            class="tag"
            href={casesWithTag(tag)}
            title={visibleName(`Cases with the tag ${tag}`)}
            data-filter
          >
            {visibleName(tag)}
          </a>
        ))}
        {others.length > 0 && <span title={visibleName(others.join(', '))}>+{others.length}</span>}
      </span>
      <span class="row-type">{visibleName(type)}</span>
      <span class="row-state">{stateText(row, group)}</span>
      <span class="row-time">
        {row.since === null ? (
          <Time at={row.updated_at} />
        ) : (
          <Time at={row.since} as={needs?.kind === 'running' ? 'running' : 'waiting'} />
        )}
      </span>
    </li>
  )
}

/** What it waits for, and why; the text leads to the session that it is about. */
function Need({ row, needs, group, facts }: CaseRowProps & { needs: Attention }) {
  const label = facts.isInLine && needs.kind === 'running' ? IN_LINE : NEED_LABELS[needs.kind]
  const text = reasonText(needs, facts.session)
  return (
    <span class="row-need" data-kind={needs.kind}>
      {label !== STATE_GROUP_LABELS[group] && (
        <span class="row-why">
          <AttentionIcon kind={needs.kind} />
          {label}
        </span>
      )}
      {text !== '' &&
        (needs.session === null ? (
          <span class="row-reason">{text}</span>
        ) : (
          <a class="row-reason" href={sessionPage(row.id, needs.session)}>
            {text}
          </a>
        ))}
    </span>
  )
}

/** What the label doesn't say already. */
function reasonText({ kind, text }: Attention, fact: string | undefined): string {
  switch (kind) {
    case 'plan':
      return [text.replace(/^the plan of (.*?) waits for approval/, '$1'), fact]
        .filter(Boolean)
        .join(' · ')
    case 'running':
      return [text, fact].filter(Boolean).join(' · ')
    case 'failed':
      return text.replace(' failed:', ':')
    case 'gate_open':
      return ''
    case 'question':
    case 'problem':
    case 'proof':
    case 'blocked':
      return text
  }
}

/** The exact state, unless the group or the reason says it already, and the outcome. */
function stateText({ state, needs, outcome }: TriageRow, group: StateGroup): string {
  const label = stateLabel(state)
  const isSaid = label === STATE_GROUP_LABELS[group] || (needs && label === NEED_LABELS[needs.kind])
  return [isSaid ? '' : label, outcome === null ? '' : outcomeLabel(outcome)]
    .filter((text, at, all) => text !== '' && all.findIndex((each) => same(each, text)) === at)
    .join(' · ')
}

function same(a: string, b: string): boolean {
  const letters = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
  return letters(a) === letters(b)
}
