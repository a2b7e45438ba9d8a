import { counted } from '../../model/amounts.ts'
import { type CommentView, placedBelow } from '../../model/comment.ts'
import { directionOf } from '../../rendering/direction.ts'
import { visibleName, visibleProse, visibleText } from '../../rendering/hidden-characters.ts'
import { sessionApi } from '../shell/addresses.ts'
import { Badge } from '../shell/badges.tsx'
import { FormActions, FormDisclosure } from '../shell/disclosure.tsx'
import { TextField } from '../shell/field.tsx'
import { Isolated } from '../shell/isolated.tsx'
import { Time } from '../shell/time.tsx'
import type { SessionPageData } from './data.ts'
import { inlineComments } from './inline-comments.ts'

const STATUS: Record<
  CommentView['status'],
  { label: string; tone: 'info' | 'warn' | 'good' | 'muted' }
> = {
  draft: { label: 'Draft', tone: 'info' },
  open: { label: 'Open', tone: 'warn' },
  addressed: { label: 'Addressed', tone: 'good' },
  stale: { label: 'Stale', tone: 'muted' },
  resolved: { label: 'Resolved', tone: 'muted' },
}

const MEANING: Record<CommentView['status'], string> = {
  draft: 'Not sent yet: goes out with your decision',
  open: 'Sent; the plan still has its lines as they were',
  addressed:
    'Sent, and since then the plan changed these lines, or an answer came. Check that it is what you meant, then resolve it.',
  stale: 'Not sent, and its lines changed meanwhile',
  resolved: 'You resolved it',
}

/** The comments that have no place in the present plan, or are done: those that need attention first. */
export function ReviewList({ data }: { data: SessionPageData }) {
  const inline = new Set(inlineComments(data.comments))
  const isShownInline = data.query.view !== 'diff'
  const listed = data.comments
    .filter((comment) => comment.on === 'plan' && !(isShownInline && inline.has(comment)))
    .sort((a, b) => (a.present_line ?? a.line ?? 0) - (b.present_line ?? b.line ?? 0))
  if (listed.length === 0) return null
  const listedComment = (comment: CommentView) => <Comment comment={comment} data={data} hasQuote />
  const resolved = listed.filter(({ status }) => status === 'resolved')
  const others = listed.filter(({ status }) => status !== 'resolved')
  return (
    <section class="review stack" id="review" aria-labelledby="review-title">
      <h3 class="small" id="review-title">
        Comments <span class="muted">{countsText(listed)}</span>
      </h3>
      {others.filter((comment) => !isUnplaced(comment)).map(listedComment)}
      {others.some(isUnplaced) && (
        <p class="muted small">Not placed, because their lines are gone:</p>
      )}
      {others.filter(isUnplaced).map(listedComment)}
      {resolved.length > 0 && (
        <details class="show-more" id="resolved-comments">
          <summary>{counted(resolved.length, 'resolved comment')}</summary>
          {resolved.map((comment) => (
            <Comment comment={comment} data={data} hasQuote />
          ))}
        </details>
      )}
    </section>
  )
}

function isUnplaced(comment: CommentView): boolean {
  return comment.line !== null && placedBelow(comment) === null
}

function countsText(comments: readonly CommentView[]): string {
  return (Object.keys(STATUS) as CommentView['status'][])
    .map((status) => [comments.filter((each) => each.status === status).length, status] as const)
    .filter(([count]) => count > 0)
    .map(([count, status]) => `${count} ${status}`)
    .join(', ')
}

interface CommentProps {
  comment: CommentView
  data: SessionPageData
  /** Whether it quotes its lines, which are not right above it. */
  hasQuote?: boolean
}

/** A comment with its answers, and what the operator can do with it. */
export function Comment({ comment, data, hasQuote = false }: CommentProps) {
  const { id, status, author, text, created_at, quote, replies, sent } = comment
  const { label, tone } = STATUS[status]
  const isClosed = data.ended
  const api = `${sessionApi(data.session)}/comments/${id}`
  return (
    <article
      class="comment stack"
      id={`comment-${id}`}
      tabindex={-1}
      data-status={status}
      data-place={diffPlace(comment)}
      aria-label={`Comment on ${placeText(comment)}`}
    >
      <header>
        <strong>
          <Isolated text={author} isName />
        </strong>
        <a class="muted small" href={`#comment-${id}`}>
          {placeText(comment)}
        </a>
        <span class="muted small">
          <Time at={created_at} />
        </span>
        <span title={MEANING[status]}>
          <Badge tone={tone}>{label}</Badge>
        </span>
      </header>
      {hasQuote && quote !== '' && <pre class="comment-quote">{visibleText(quote)}</pre>}
      <p class="comment-text" dir={directionOf(text)}>
        {visibleProse(text)}
      </p>
      {replies.map((reply) => (
        <div class="comment-reply">
          <p class="small">
            <strong>
              <Isolated text={reply.author} isName />
            </strong>{' '}
            <span class="muted">
              answered <Time at={reply.created_at} />
            </span>
          </p>
          <p class="comment-text" dir={directionOf(reply.text)}>
            {visibleProse(reply.text)}
          </p>
        </div>
      ))}
      {!isClosed && (
        <div class="comment-actions needs-script row">
          {sent && (
            <ActionForm
              id={`resolve-${id}`}
              method="PUT"
              action={api}
              field={['resolved', status !== 'resolved']}
              label={status === 'resolved' ? 'Reopen' : 'Resolve'}
            />
          )}
          {sent ? (
            <TextForm
              id={`reply-${id}`}
              label="Reply"
              field="Reply"
              method="POST"
              action={`${api}/replies`}
              submit="Reply"
            />
          ) : (
            <>
              <TextForm
                id={`edit-comment-${id}`}
                label="Edit"
                field="Comment"
                method="PUT"
                action={api}
                submit="Save"
                text={text}
              />
              <ActionForm id={`delete-${id}`} method="DELETE" action={api} label="Delete" />
            </>
          )}
        </div>
      )}
    </article>
  )
}

function diffPlace({ on, file, side, line }: CommentView): string | undefined {
  return on === 'diff' ? JSON.stringify({ file, side, line }) : undefined
}

export function placeText({ on, line, end_line, step, file, present_line }: CommentView): string {
  if (line === null) return 'the plan'
  const of = on === 'plan' && present_line === null ? ' of an earlier plan' : ''
  const lines =
    end_line !== null && end_line !== line ? `lines ${line}–${end_line}` : `line ${line}`
  const where = file === null ? `${lines}${of}` : `${visibleName(file)} ${lines}`
  return step === null ? where : `${where} (step ${step})`
}

interface ActionFormProps {
  id: string
  method: 'PUT' | 'DELETE'
  action: string
  field?: [name: string, value: boolean]
  label: string
}

/** A checkbox is how a form sends a boolean. */
function ActionForm({ id, method, action, field, label }: ActionFormProps) {
  return (
    <form id={id} data-send={method} action={action}>
      {field && (
        <input type="checkbox" name={field[0]} checked={field[1]} hidden aria-label={field[0]} />
      )}
      <button type="submit" class="quiet compact">
        {label}
      </button>
    </form>
  )
}

interface TextFormProps {
  id: string
  /** Of the button that opens it, and of the field. */
  label: string
  field: string
  method: 'POST' | 'PUT'
  action: string
  submit: string
  text?: string
}

function TextForm({ id, label, field, method, action, submit, text }: TextFormProps) {
  return (
    <FormDisclosure id={id} label={label} data-send={method} action={action}>
      <TextField
        id={`${id}-text`}
        label={field}
        name="text"
        rows={text === undefined ? 2 : 3}
        required
        text={text}
      />
      <FormActions submit={submit} primary />
    </FormDisclosure>
  )
}
