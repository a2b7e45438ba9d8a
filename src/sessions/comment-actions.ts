import { plainText } from '../files/plain-text.ts'
import { linesWith, planLines, stepLines } from '../markdown/plan-lines.ts'
import { readPlan } from '../markdown/plan-steps.ts'
import { sha256 } from '../markdown/session-file.ts'
import { AppError } from '../model/app-error.ts'
import { type CaseContents, type Decide, sessionOf } from '../model/case-contents.ts'
import {
  type Comment,
  type CommentTarget,
  type CommentView,
  commentIn,
  commentText,
  MAX_QUOTE_CHARACTERS,
  shortHash,
} from '../model/comment.ts'
import * as decide from '../model/decide-comments.ts'
import type { Actor } from '../model/history.ts'
import { oneLine } from '../model/one-line.ts'
import type { Session, SessionTexts } from '../model/session.ts'
import { readPatch } from '../rendering/diff/patch.ts'
import type { DiffLine } from '../rendering/diff/shape.ts'
import { isArtifactOf, readArtifact } from '../runners/output/artifacts.ts'
import { type CommentDeps, newCommentId, viewComments } from './comments.ts'
import type { SessionDeps } from './deps.ts'

/** What a person comments on. Without `line`, `step` and `diff` it is the whole plan. */
export interface NewComment {
  text: string
  line?: number | undefined
  end_line?: number | undefined
  /** The lines that the person sees; they must be there. */
  quote?: string | undefined
  plan_sha256?: string | undefined
  step?: string | undefined
  diff?: DiffLines | undefined
}

export interface DiffLines {
  file: string
  line: number
  end_line?: number | undefined
  side: 'old' | 'new'
}

/** Changes of comments. Each returns the comment after the change. */
export interface CommentActions {
  add(caseId: string, id: string, wanted: NewComment, by: Actor): Promise<CommentView>
  change(
    caseId: string,
    id: string,
    change: { comment: string; text?: string | undefined; resolved?: boolean | undefined },
    by: Actor,
  ): Promise<CommentView>
  remove(caseId: string, id: string, comment: string, by: Actor): Promise<void>
  reply(
    caseId: string,
    id: string,
    reply: { comment: string; text: string },
    by: Actor,
  ): Promise<CommentView>
}

type ActionDeps = Pick<SessionDeps, 'store' | 'layout' | 'redactor' | 'sessionTexts' | 'now'> &
  CommentDeps

export function createCommentActions(deps: ActionDeps): CommentActions {
  const { store, now } = deps

  async function update(
    caseId: string,
    id: string,
    decided: Decide,
    by: Actor,
  ): Promise<readonly CommentView[]> {
    const contents = await store.update(caseId, decided, { texts: id, by })
    const session = sessionOf(contents, id)
    return viewComments(deps.plans, session, await deps.sessionTexts(caseId, session))
  }

  return {
    async add(caseId, id, wanted, by) {
      const present = await store.read(caseId)
      const session = decide.commentableSession(present, id)
      const texts = await deps.sessionTexts(caseId, session)
      const place = wanted.diff
        ? await diffPlace(deps, session, texts, wanted.diff)
        : await planPlace(texts.plan, wanted)
      let added = ''
      const decided = (contents: CaseContents) => {
        if (place.on === 'plan') mustBePlan(contents.texts!.plan, sha256(texts.plan))
        const created_at = now()
        const comment: Comment = {
          id: newCommentId(contents.texts!.comments),
          author: nameOf(by.who),
          created_at,
          sent: false,
          resolved: false,
          ...place,
          text: safeText(wanted.text),
          replies: [],
        }
        added = comment.id
        return decide.addComment(contents, id, comment, created_at)
      }
      return commentIn(await update(caseId, id, decided, by), added)
    },

    async change(caseId, id, { comment, text, resolved }, by) {
      const wanted = {
        comment,
        ...(text === undefined ? {} : { text: safeText(text) }),
        ...(resolved === undefined ? {} : { resolved }),
      }
      const decided = (contents: CaseContents) => decide.changeComment(contents, id, wanted, now())
      return commentIn(await update(caseId, id, decided, by), comment)
    },

    async remove(caseId, id, comment, by) {
      const decided = (contents: CaseContents) => decide.deleteComment(contents, id, comment, now())
      await update(caseId, id, decided, by)
    },

    async reply(caseId, id, { comment, text }, by) {
      const decided = (contents: CaseContents) => {
        const reply = {
          author: nameOf(by.who),
          text: deps.redactor.text(safeText(text)),
          created_at: now(),
        }
        return decide.answerComment(contents, id, { comment, reply })
      }
      return commentIn(await update(caseId, id, decided, by), comment)
    },
  }
}

/** Without the separator of the parts of a comment's first line. */
function nameOf(who: string): string {
  return oneLine(who).replaceAll('·', '‧') || 'unknown'
}

/** Without terminal escapes and control characters. */
function safeText(text: string): string {
  const safe = commentText(plainText(text))
  if (safe === '') throw invalid('text', 'expected a comment, not only white space')
  return safe
}

type QuotedTarget = CommentTarget & { quote: string }

async function planPlace(plan: string, wanted: NewComment): Promise<QuotedTarget> {
  if (plan.trim() === '') {
    throw new AppError(
      'wrong_state',
      'The session has no plan yet, so there is nothing to comment on.',
    )
  }
  if (wanted.plan_sha256 !== undefined) mustBePlan(plan, wanted.plan_sha256)
  const on = { on: 'plan', sha256: shortHash(sha256(plan)), file: null, side: null } as const
  const lines = planLines(plan)
  const range = await rangeIn(plan, lines, wanted)
  if (range === null) return { ...on, line: null, end_line: null, quote: '' }
  const quote = quoteOf(lines.slice(range.line - 1, range.end_line ?? range.line))
  if (wanted.quote !== undefined && wanted.quote.replace(/\r\n?/g, '\n') !== quote) {
    throw planChanged(plan, 'The plan has changed: its lines are not those that you quoted.')
  }
  return { ...on, ...range, quote }
}

interface Range {
  line: number
  end_line: number | null
}

async function rangeIn(
  plan: string,
  lines: readonly string[],
  { line, end_line, step, quote }: NewComment,
): Promise<Range | null> {
  if (step !== undefined) return rangeOfStep(plan, lines, step)
  if (line === undefined) {
    if (quote === undefined) return null
    const [first] = linesWith(lines, quote.replace(/\r\n?/g, '\n'))
    if (first === undefined) throw invalid('quote', 'expected lines of the present plan')
    return range(first, first + quote.split('\n').length - 1)
  }
  const last = end_line ?? line
  if (line > lines.length) throw invalid('line', `the plan has ${lines.length} lines; got ${line}`)
  if (last < line || last > lines.length) {
    const message = `expected a line from ${line} to ${lines.length}; got ${last}`
    throw invalid('end_line', message)
  }
  return range(line, last)
}

async function rangeOfStep(plan: string, lines: readonly string[], id: string): Promise<Range> {
  const steps = stepLines(lines, (await readPlan(plan)).steps)
  const step = steps.find((each) => each.id === id)
  if (step) return range(step.from, step.to)
  const names = steps.map((each) => each.id).join(', ')
  const known = names === '' ? 'it has none' : `its steps are ${names}`
  throw invalid('step', `the plan has no step "${id}"; ${known}`)
}

function range(line: number, last: number): Range {
  return { line, end_line: last === line ? null : last }
}

function quoteOf(lines: readonly string[]): string {
  const quote = lines.join('\n')
  if (quote.length <= MAX_QUOTE_CHARACTERS) return quote
  throw invalid(
    'end_line',
    `expected lines with at most ${MAX_QUOTE_CHARACTERS} characters together`,
  )
}

/** Throws `plan_changed` unless the plan has this hash. */
export function mustBePlan(plan: string, expected: string): void {
  if (sha256(plan) === expected) return
  throw planChanged(plan, 'The plan has changed meanwhile. Read it again (GET), then decide.')
}

function planChanged(plan: string, message: string): AppError {
  return new AppError('plan_changed', message, { extra: { plan_sha256: sha256(plan) } })
}

function invalid(path: string, message: string): AppError {
  return new AppError('bad_request', `${path}: ${message}.`, { errors: [{ path, message }] })
}

/** The service's name for the patch of a run; with a number if the name was taken. */
function isPatch(artifact: string, number: number): boolean {
  return isArtifactOf(artifact, number) && /^\d+-changes(-\d+)?\.patch$/.test(artifact)
}

async function diffPlace(
  { layout }: Pick<SessionDeps, 'layout'>,
  { case_id, number }: Session,
  { candidates }: SessionTexts,
  { file, line, end_line = line, side }: DiffLines,
): Promise<QuotedTarget> {
  const found = candidates.findLast(({ artifact }) => isPatch(artifact, number))
  const patch = found ? await readArtifact(layout, case_id, found.artifact, undefined, true) : null
  if (patch === null) {
    throw new AppError(
      'wrong_state',
      `Session ${number} has no patch on this machine, so its diff cannot be commented on.`,
    )
  }
  const changed = readPatch(patch).files.find((each) => each.file === file || each.from === file)
  if (!changed) throw invalid('diff.file', 'expected a file of the diff')
  const lines = new Map<number, string>()
  for (const each of changed.hunks.flatMap((hunk) => hunk.lines)) {
    const at = numberOn(each, side)
    // a CR within a line would end it in the session's file
    if (at !== null) lines.set(at, each.text.replace(/\r$/, '').replaceAll('\r', '␍'))
  }
  const quoted: string[] = []
  for (let at = line; at <= end_line; at++) {
    const text = lines.get(at)
    if (text === undefined) {
      const path = at === line ? 'diff.line' : 'diff.end_line'
      throw invalid(path, `the diff does not show line ${at} of this side of the file`)
    }
    quoted.push(text)
  }
  if (end_line < line) throw invalid('diff.end_line', `expected at least ${line}`)
  return {
    on: 'diff',
    sha256: shortHash(sha256(patch)),
    file: changed.file,
    side,
    ...range(line, end_line),
    quote: quoteOf(quoted),
  }
}

function numberOn(line: DiffLine, side: 'old' | 'new'): number | null {
  return side === 'old' ? line.old : line.new
}
