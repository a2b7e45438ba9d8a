/** The text of `## Execution output`: a line for each step, why the run stopped, the failed tests, the end of what failed. */

import { fenceFor } from '../markdown/sections.ts'
import { type FailedTest, failedTestPlace } from '../model/failed-test.ts'
import { endOf, type TrailStep } from '../model/trail-steps.ts'
import { endOfText } from '../runners/output/end-of-text.ts'

/** The size limit of the section; the full output is in artifacts/. */
const MAX_BYTES = 16 * 1024
const MAX_STEPS = 60
const MAX_LINE = 300
const MAX_NOTE = 2000
const MAX_END_LINES = 20
const MAX_END_BYTES = 4 * 1024
const MAX_SUMMARY_BYTES = 8 * 1024

/** A step, and what is said about it. */
export interface StepResult {
  step: TrailStep
  /** What its report says, and what could not be read. */
  notes: string[]
  isFailed: boolean
  /** The end of its output as plain text; empty without any. */
  printed: string
}

export interface OutputFacts {
  results: readonly StepResult[]
  failed_tests?: readonly FailedTest[] | undefined
  /** How many tests failed; the first are in `failed_tests`. */
  failed?: number | undefined
  /** Why the run stopped, and hints. */
  notes: readonly string[]
}

/** At most 16 KiB of markdown. What programs printed is in it as quotes and fences. */
export function outputText({ results, failed_tests = [], failed = 0, notes }: OutputFacts): string {
  const steps = listOf(
    results.map(({ step, notes }) => inline([endOf(step), ...notes].join(', '), step.id)),
    MAX_STEPS,
    results.length,
  )
  const tests = failed_tests.map((test) => {
    const place = failedTestPlace(test)
    const message = test.message ? `: ${codeSpan(test.message)}` : ''
    return codeSpan(test.name) + (place === null ? '' : ` (${codeSpan(place)})`) + message
  })
  const names = tests.length === 0 ? '' : `Failed tests:\n\n${listOf(tests, tests.length, failed)}`
  const stated = [steps, ...notes.map((note) => inline(note.slice(0, MAX_NOTE)))]
  const parts = [...stated.filter((part) => part !== ''), ...(names === '' ? [] : [names])]
  const text = parts.join('\n\n')
  const shown = results.filter(
    ({ step, isFailed, printed }) => printed.trim() !== '' && (isFailed || step.isAgent),
  )
  const share = Math.floor((MAX_BYTES - Buffer.byteLength(text)) / Math.max(1, shown.length)) - 300
  const ends = share < MAX_LINE ? [] : shown.map((result) => endText(result, share))
  return [text, ...ends.filter((end) => end !== '')].join('\n\n')
}

function listOf(items: readonly string[], most: number, all: number): string {
  const more = all - Math.min(items.length, most)
  const lines = items.slice(0, most).map((item) => `- ${item}`)
  return [...lines, ...(more > 0 ? [`- and ${more} more`] : [])].join('\n')
}

function endText({ step, isFailed, printed }: StepResult, share: number): string {
  if (step.isAgent && !isFailed) {
    const summary = lastMessage(printed)
    const { text } = endOfText(summary, Math.min(MAX_SUMMARY_BYTES, Math.floor(share / 2)))
    return text.trim() === ''
      ? ''
      : text.trim().replace(/^(?=(.*))/gm, (_, line) => (line ? '> ' : '>'))
  }
  const lines = printed.trimEnd().split('\n')
  const last = lines.slice(-MAX_END_LINES).join('\n')
  const { text, isCut } = endOfText(last, Math.min(MAX_END_BYTES, share))
  const isAll = !isCut && lines.length <= MAX_END_LINES
  const fence = fenceFor(text)
  const label = isAll ? `Output of ${step.id}` : `The last lines of ${step.id}`
  const log = step.artifacts.log
  return `${label}${isAll || log === null ? '' : ` (all: \`artifacts/${log}\`)`}:\n\n${fence}text\n${text}\n${fence}`
}

/** What an agent said after its last tool call. Output without tool calls is returned as it is. */
function lastMessage(printed: string): string {
  const lines = printed.trimEnd().split('\n')
  if (/^\[.*\]$/.test(lines.at(-1)!)) lines.pop() // how its run ended
  const call = lines.findLastIndex((line) =>
    /^(?:→ | {2}(?:ok|failed|denied)\b|to do: )/.test(line),
  )
  return lines.slice(call + 1).join('\n')
}

/** A text as words of one line, so that no part of it is read as HTML, a link, an image or a block. */
function inline(text: string, id?: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  const cut =
    id !== undefined && line.length > MAX_LINE ? `${line.slice(0, MAX_LINE).toWellFormed()}…` : line
  const words = cut.replace(/<(?=[A-Za-z/!?])|\](?=[([])/g, '\\$&')
  return id === undefined ? words.replace(/^(?=[#>+*=~`|-]|\d+[.)])/, '\\') : `${id}: ${words}`
}

function codeSpan(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  const cut = line.length > MAX_LINE ? `${line.slice(0, MAX_LINE).toWellFormed()}…` : line
  const marks = '`'.repeat(Math.max(0, ...(cut.match(/`+/g) ?? []).map((run) => run.length)) + 1)
  const gap = marks.length > 1 ? ' ' : ''
  return `${marks}${gap}${cut}${gap}${marks}`
}
