import { type Line, linesOf } from '../../markdown/lines.ts'
import { closesFence, headingText } from '../../markdown/outline.ts'
import type { PlanResult } from '../contract.ts'
import { clauseOf } from './cut-text.ts'
import { PLAN_MARKS } from './plan-marks.ts'

/**
 * The plan in a text that is meant as one: what stands between the last pair of plan marks, else all of it.
 * Without the headings `Hypothesis` and `Plan` (of depth 1 to 3) all of that is the plan; with them,
 * what stands before is chatter. Null where no plan is left.
 */
export function planOf(markdown: string): PlanResult | null {
  const text = withoutFence((marked(markdown) ?? markdown).toWellFormed())
  const parts = partsOf(text)
  const result = parts ?? { hypothesis: '', plan: text }
  const [hypothesis, plan] = [trimLines(result.hypothesis), trimLines(result.plan)]
  return plan === '' ? null : { hypothesis, plan }
}

/**
 * The plan in all messages of an agent's turn, of which the last need not be the one that has it:
 * the marked text, else the last message with a heading `Plan`, else the last with a list or a fenced block.
 * Other words are no plan, and neither is half of one.
 */
export function planAmong(messages: readonly string[]): PlanResult | null {
  const whole = messages.join('\n\n')
  if (marked(whole) !== null) return planOf(whole)
  if (isHalf(whole)) return null
  const last = [...messages].reverse()
  const chosen = last.find((message) => hasHeading(message)) ?? last.find(hasSteps)
  return chosen === undefined ? null : planOf(chosen)
}

/** The plan in a text of a program of which nothing is known: all of it, unless it is an error or half a plan. */
export function planOfWords(text: string): PlanResult | null {
  if (marked(text) === null && (isHalf(text) || isErrorAlone(text))) return null
  return planOf(text)
}

/** Why there is no plan in what an agent said, for a sentence that begins with its name. */
export function noPlan(messages: readonly string[]): string {
  const whole = messages.join('\n\n')
  if (marked(whole) === null && isHalf(whole))
    return 'ended in the middle of its plan: the mark at its end is missing. It can be asked again'
  const words = clauseOf(messages.findLast((message) => message.trim() !== '') ?? '')
  if (words === '') return 'ended without a plan, and said nothing. It can be asked again'
  return `ended without a plan. It said: "${words}". It can be asked again`
}

/** Whether a text says nothing but that something failed. */
export function isErrorAlone(text: string): boolean {
  return ERROR.test(text) && marked(text) === null && !hasHeading(text) && !hasSteps(text)
}

const ERROR = /^\s*(?:\[?(?:api )?error\b\s*[:\]]|fatal:|\{\s*"(?:error"|type"\s*:\s*"error"))/i

/** It begins, and does not end: cut off, or forgotten. */
function isHalf(text: string): boolean {
  return new RegExp(`${PLAN_MARKS.begin}[ \\t]*(?:[\\r\\n]|$)`).test(text)
}

function hasHeading(message: string): boolean {
  return placesOf(withoutFence(message)).plan !== undefined
}

/** A list item, or a fenced block, at the beginning of a line. */
function hasSteps(message: string): boolean {
  return /^ {0,3}(?:(?:[-*+]|\d{1,9}[.)])[ \t]+\S|`{3,}|~{3,})/m.test(message)
}

/** The last complete pair with anything in it counts: an agent may name the marks before it uses them. */
function marked(text: string): string | null {
  for (let end = text.lastIndexOf(PLAN_MARKS.end); end >= 0; ) {
    const begin = text.lastIndexOf(PLAN_MARKS.begin, end)
    if (begin < 0) return null
    const inner = text.slice(begin + PLAN_MARKS.begin.length, end)
    if (/[\r\n]/.test(inner) && inner.trim() !== '') return inner
    end = begin === 0 ? -1 : text.lastIndexOf(PLAN_MARKS.end, begin - 1)
  }
  return null
}

/** Agents like to put their whole answer into one fence: its content then, with the fences inside. */
function withoutFence(text: string): string {
  const lines = [...linesOf(trimLines(text))]
  const [first, last] = [lines[0], lines.at(-1)]
  if (!first || !last || !/^(?:`{3,}|~{3,})[ \t]*(?:markdown|md)[ \t]*$/i.test(first.text))
    return text
  const open: string[] = []
  for (const line of lines) {
    if (line !== first && open.length === 0) return text
    const fence = fenceOf(line.text)
    if (!fence) continue
    if (open.length > 0 && closesFence(line.text.trimStart(), open.at(-1)!)) open.pop()
    else open.push(fence)
  }
  if (open.length > 0) return text
  return trimLines(text).slice(first.next, last.start)
}

function fenceOf(line: string): string | null {
  return /^[ \t]*(`{3,}(?=[^`]*$)|~{3,})/.exec(line)?.[1] ?? null
}

interface Place extends Line {
  name: string
  depth: number
}

/** Nothing that stands behind the first of the two headings is lost. */
function partsOf(text: string): PlanResult | null {
  const { hypothesis, plan, headings } = placesOf(text)
  if (!hypothesis) return plan ? { hypothesis: '', plan: text.slice(plan.next) } : null
  if (plan && plan.start > hypothesis.start) {
    return {
      hypothesis: text.slice(hypothesis.next, plan.start),
      plan: text.slice(plan.next),
    }
  }
  const next = headings.find(
    ({ start, depth }) => start > hypothesis.start && depth <= hypothesis.depth,
  )
  const before = plan ? text.slice(plan.next, hypothesis.start) : ''
  const behind = next ? text.slice(next.start) : ''
  const parts = { hypothesis: text.slice(hypothesis.next, next?.start), plan: before + behind }
  return plan || parts.plan.trim() !== '' ? parts : null
}

interface Places {
  headings: Place[]
  hypothesis: Place | undefined
  /** The first behind the hypothesis, else the first: a title may say Plan as well. */
  plan: Place | undefined
}

function placesOf(text: string): Places {
  const headings = headingsOf(text)
  const isNamed = (name: string) => (place: Place) => place.name === name && place.depth <= 3
  const hypothesis = headings.find(isNamed('hypothesis'))
  const plans = headings.filter(isNamed('plan'))
  const plan = plans.find(({ start }) => hypothesis && start > hypothesis.start) ?? plans[0]
  return { headings, hypothesis, plan }
}

function headingsOf(text: string): Place[] {
  const headings: Place[] = []
  let open: string | null = null
  for (const line of linesOf(text)) {
    if (open !== null) {
      if (closesFence(line.text.trimStart(), open)) open = null
      continue
    }
    open = fenceOf(line.text)
    const hashes = /^ {0,3}(#{1,6})(?:[ \t]|$)/.exec(line.text)?.[1]
    if (hashes) headings.push({ ...line, depth: hashes.length, name: nameOf(line.text) })
  }
  return headings
}

/** Of one that may be ours: people put emphasis and a colon around a name. */
function nameOf(heading: string): string {
  const text = headingText(heading)
  return text.length > 40 ? '' : text.replace(/^[*_]+|[*_:]+$/g, '').toLowerCase()
}

/** Without the blank lines around it: the first line may be indented code. */
function trimLines(text: string): string {
  return text.replace(/^(?:[^\S\r\n]*(?:\r\n|\n|\r))+/, '').trimEnd()
}
