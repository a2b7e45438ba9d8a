import { doubtText, type HistoryEntry } from '../../model/history.ts'
import type { ActName } from '../../model/history-act.ts'
import { directionOf } from '../../rendering/direction.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { LongText } from '../shell/disclosure.tsx'
import { TextField } from '../shell/field.tsx'
import { Time } from '../shell/time.tsx'
import { ActText } from './act-text.tsx'
import type { CasePageData } from './data.ts'
import type { ActItem } from './timeline.ts'

interface EntryProps {
  data: CasePageData
  item: ActItem
  /** It is the question that waits for an answer. */
  isOpen?: boolean
}

/** An act with its name, its time and its text, or a note. */
export function TimelineEntry({ data, item, isOpen = false }: EntryProps) {
  const { entry, number } = item
  const { at, who, kind } = entry
  return (
    <li data-kind={kind} id={number > 0 ? `history-${number}` : undefined}>
      <div class="timeline-body">
        <p class="timeline-what">
          {who !== null && (
            <>
              <strong dir={directionOf(who)}>{visibleText(who)}</strong> {doubtText(entry)}{' '}
            </>
          )}
          <ActText data={data} item={item} />
        </p>
        <EntryText entry={entry} />
        {isOpen && (
          <>
            {!isSameText(entry.text, data.json.reason) && <PresentQuestion data={data} />}
            <AnswerForm data={data} />
          </>
        )}
      </div>
      {at !== null && (
        <a class="timeline-time" href={number > 0 ? `#history-${number}` : undefined}>
          <Time at={at} />
        </a>
      )}
    </li>
  )
}

/** What a person wrote for others is in a box. */
const BOXED: readonly (ActName | undefined)[] = [
  'answered',
  'commented',
  'plan_sent_back',
  undefined,
]
/** The words of these acts have it. */
const SAID: readonly (ActName | undefined)[] = ['item_added', 'proof_attached']

function EntryText({ entry: { act, kind, what, text } }: { entry: HistoryEntry }) {
  const shown = kind === 'note' ? what : text
  if (shown === null || SAID.includes(act?.name)) return null
  const isBoxed = kind === 'question' || BOXED.includes(act?.name)
  return <LongText text={shown} class={isBoxed ? 'timeline-text' : 'timeline-detail small muted'} />
}

/** For a question that the history does not have, such as one that was just written into case.md by hand. */
export function PendingQuestion({ data }: { data: CasePageData }) {
  return (
    <div class="timeline-end">
      <PresentQuestion data={data} />
      <AnswerForm data={data} />
    </div>
  )
}

function PresentQuestion({ data: { json } }: { data: CasePageData }) {
  return <LongText text={json.reason ?? 'No question was given.'} class="timeline-text" />
}

function isSameText(one: string | null, other: string | null): boolean {
  const [a, b] = [one, other].map((text) => (text ?? '').replace(/\s+/g, ' ').trim())
  return a === b
}

/** The box to answer the question of a case that needs the operator's input. */
function AnswerForm({ data: { id, json, etag } }: { data: CasePageData }) {
  return (
    <form
      class="form timeline-card needs-script"
      id="answer-form"
      data-send="POST"
      data-focus="#record-head h1"
      action={`/cases/${id}/answer`}
      data-if-match={etag}
      data-conflict="The question"
      data-about={json.reason ?? ''}
    >
      <TextField
        id="answer-text"
        label="Your answer"
        hint="The history keeps question and answer. The case returns to its previous state."
        name="text"
        rows={3}
        maxlength={20000}
        required
      />
      <div class="actions">
        <button type="submit" class="primary">
          Answer
        </button>
      </div>
    </form>
  )
}

/** At the end of the history: a line for it. */
export function CommentForm({ data: { id } }: { data: CasePageData }) {
  return (
    <form
      class="form timeline-comment needs-script"
      id="comment-form"
      data-send="POST"
      data-focus="#comment-text"
      action={`/cases/${id}/comments`}
    >
      <textarea
        id="comment-text"
        name="text"
        rows={2}
        maxlength={20000}
        required
        placeholder="Write a comment…"
        aria-label="Comment"
      />
      <button type="submit">Comment</button>
    </form>
  )
}
