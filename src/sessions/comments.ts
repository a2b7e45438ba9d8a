import { randomBytes } from 'node:crypto'
import {
  linesWith,
  nearest,
  planLines,
  presentLine,
  type StepLines,
  stepLines,
} from '../markdown/plan-lines.ts'
import { readPlan } from '../markdown/plan-steps.ts'
import { sha256 } from '../markdown/session-file.ts'
import { type Comment, type CommentView, commentStatus, shortHash } from '../model/comment.ts'
import { planRevisions } from '../model/plan-revisions.ts'
import type { Session, SessionTexts } from '../model/session.ts'
import type { PlanTexts } from '../state/plans.ts'
import type { Catalog } from '../workspace/index/catalog.ts'
import type { Texts } from '../workspace/long-texts.ts'
import { revisionText } from './plan-history.ts'

export interface CommentDeps {
  catalog: Pick<Catalog, 'entry'>
  texts: Pick<Texts, 'session'>
  plans: Pick<PlanTexts, 'read'>
}

/** The comments of a session with their status, oldest first; none if its file cannot be read. */
export async function commentsOfSession(
  { catalog, texts, plans }: CommentDeps,
  session: Session,
): Promise<readonly CommentView[]> {
  const record = catalog.entry(session.case_id)?.sessions.get(session.number)
  const read = record?.value ? await texts.session(session.case_id, record) : null
  return read?.value ? viewComments(plans, session, read.value) : []
}

const known = new WeakMap<SessionTexts, Promise<readonly CommentView[]>>()

/** The same for texts that were read before. Computed once for each state of the file. */
export function viewComments(
  plans: Pick<PlanTexts, 'read'>,
  session: Session,
  texts: SessionTexts,
): Promise<readonly CommentView[]> {
  if (texts.comments.length === 0) return Promise.resolve([])
  const present = known.get(texts)
  if (present) return present
  const views = createViews(plans, session, texts)
  known.set(texts, views)
  views.catch(() => known.delete(texts))
  return views
}

interface PlanText {
  lines: string[]
  steps: StepLines[]
}

async function createViews(
  plans: Pick<PlanTexts, 'read'>,
  session: Session,
  { plan, comments }: SessionTexts,
): Promise<readonly CommentView[]> {
  const presentHash = plan === '' ? null : shortHash(sha256(plan))
  const present = await planText(plan)
  const earlier = new Map<string, PlanText | null>()
  const planOf = async (hash: string) => {
    if (hash === presentHash) return present
    if (!earlier.has(hash)) earlier.set(hash, await earlierPlan(plans, session, hash))
    return earlier.get(hash) ?? null
  }
  const views: CommentView[] = []
  for (const comment of comments) {
    const own = comment.on === 'plan' ? await planOf(comment.sha256) : null
    views.push(createView(session, comment, { presentHash, present, own }))
  }
  return views.sort((a, b) =>
    a.created_at < b.created_at ? -1 : a.created_at > b.created_at ? 1 : 0,
  )
}

function createView(
  { id: session_id }: Session,
  comment: Comment,
  {
    presentHash,
    present,
    own,
  }: { presentHash: string | null; present: PlanText; own: PlanText | null },
): CommentView {
  const { on, line, end_line, quote } = comment
  const lineNow =
    on === 'diff' || line === null
      ? null
      : comment.sha256 === presentHash
        ? line
        : presentLine(present.lines, own?.lines ?? null, { line, end_line, quote })
  const status = commentStatus(comment, { presentHash, presentLine: lineNow })
  const step =
    lineNow === null ? (line === null ? null : stepAt(own, line)) : stepAt(present, lineNow)
  return {
    ...comment,
    session_id,
    status,
    present_line: lineNow,
    near_line:
      on === 'plan' && line !== null && lineNow === null
        ? nearLine(present, { line, quote, step })
        : null,
    step: on === 'plan' ? step : null,
  }
}

/** The last line of the quoted text, wherever it is now; else of the step; else of what is left of the text. */
function nearLine(
  { lines, steps }: PlanText,
  { line, quote, step }: { line: number; quote: string; step: string | null },
): number | null {
  const whole = nearest(linesWith(lines, quote), line)
  if (whole !== null) return whole + quote.split('\n').length - 1
  const present = steps.find(({ id }) => id === step)
  if (present) return present.to
  const rest = quote.split('\n').filter((text) => /[\p{L}\p{N}]/u.test(text))
  return nearest(
    rest.flatMap((text) => linesWith(lines, text)),
    line,
  )
}

function stepAt(plan: PlanText | null, line: number): string | null {
  return plan?.steps.find(({ from, to }) => from <= line && line <= to)?.id ?? null
}

async function planText(plan: string): Promise<PlanText> {
  const lines = planLines(plan)
  return { lines, steps: stepLines(lines, (await readPlan(plan)).steps) }
}

async function earlierPlan(
  plans: Pick<PlanTexts, 'read'>,
  session: Session,
  hash: string,
): Promise<PlanText | null> {
  const revision = planRevisions(session.trail).find(
    ({ plan_sha256 }) => shortHash(plan_sha256) === hash,
  )
  const text = revision ? await revisionText(plans, revision) : null
  return text === null ? null : planText(text)
}

/** Returns an id that no other comment of the session has. */
export function newCommentId(comments: readonly Comment[]): string {
  for (;;) {
    const id = randomBytes(4).toString('hex')
    if (!comments.some((comment) => comment.id === id)) return id
  }
}
