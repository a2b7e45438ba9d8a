import type { Attention } from '../../model/attention.ts'
import type { TriageRow } from '../../model/triage-row.ts'
import { casePage, casesWithTag, sessionPage } from '../shell/addresses.ts'
import { StateBadge } from '../shell/badges.tsx'
import { Time } from '../shell/time.tsx'
import { AttentionIcon } from './attention-icons.tsx'
import { type ShownKind, shownKind, shownWords } from './attention-words.ts'
import { reasonText } from './reason-text.ts'

/** How many are shown. */
const TAGS = 3

/** A case on one line, with a reason on two, on a phone on more; in its group always of the same height. */
export function CaseRow({ row }: { row: TriageRow }) {
  const { id, needs, tags } = row
  const shownTags = tags.slice(0, TAGS)
  return (
    <li class="case-row" id={`case-${id}`}>
      {needs && <Why kind={shownKind(needs.kind, row.state)} />}
      <span class="row-what">
        <a class="row-title" data-row href={casePage(id)}>
          {row.title}
        </a>
        {needs && <Reason id={id} needs={needs} />}
      </span>
      <span class="row-tags">
        {shownTags.map((tag) => (
          <a class="tag" href={casesWithTag(tag)} title={`Cases with the tag ${tag}`} data-filter>
            {tag}
          </a>
        ))}
        {tags.length > shownTags.length && <span>+{tags.length - shownTags.length}</span>}
      </span>
      <span class="row-type">{row.type}</span>
      <span class="row-state">
        <StateBadge state={row.state} />
      </span>
      <span class="row-sessions">{sessionsText(row.sessions)}</span>
      <span class="row-time">
        <Time at={row.updated_at} />
      </span>
    </li>
  )
}

function Why({ kind }: { kind: ShownKind }) {
  return (
    <span class="row-why" data-kind={kind}>
      <AttentionIcon kind={kind} />
      {shownWords(kind)}
    </span>
  )
}

/** Where a session is meant, the reason leads to it. */
function Reason({ id, needs }: { id: string; needs: Attention }) {
  const text = reasonText(needs)
  if (needs.session === null) return <span class="row-reason">{text}</span>
  return (
    <a class="row-reason" href={sessionPage(id, needs.session)}>
      {text}
    </a>
  )
}

function sessionsText(count: number): string {
  if (count === 0) return ''
  return count === 1 ? '1 session' : `${count} sessions`
}
