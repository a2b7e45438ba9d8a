import { duration } from './amounts.ts'
import { OWN_PROVIDER } from './settings.ts'
import { visibleText } from './visible-text.ts'

/** An event as a line of text, with its sign. The tone decides the colours of the terminal and the page. */
export interface EventLine {
  tone: Tone
  sign: string
  text: string
}

export type Tone = 'quiet' | 'plain' | 'good' | 'warn' | 'bad' | 'step'

type Fields = Readonly<Record<string, unknown>>

const SIGNS: Record<Tone, string> = {
  quiet: ' ',
  plain: '•',
  good: '✓',
  warn: '!',
  bad: '!',
  step: '▶',
}

export function lineOf(tone: Tone, text: string): EventLine {
  return { tone, sign: SIGNS[tone], text }
}

/** The line of an event without its own text: its name and its fields. */
export function plainLine(tone: Tone, event: string, fields: Fields): EventLine {
  return lineOf(tone, `${visibleText(event.replaceAll('_', ' '))}${details(fields)}`)
}

function details(fields: Fields): string {
  const shown = Object.entries(fields).filter(([key]) => key !== 'case_id' && key !== 'session_id')
  if (shown.length === 0) return ''
  const text = shown.map(([key, value]) => `${key}=${short(value)}`).join(' ')
  return `: ${text.length > 200 ? `${text.slice(0, 199).toWellFormed()}…` : text}`
}

/** Text that others wrote, in one line and without characters that move the cursor. */
export function say(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return visibleText((text ?? '').replace(/\s+/g, ' '))
}

/** The part of a hash that people compare. */
export function short(value: unknown): string {
  return say(value).replace(/\b([0-9a-f]{8})[0-9a-f]{56}\b/g, '$1')
}

export function stateLine(from: unknown, to: unknown, reason: unknown): EventLine {
  const why = reason === undefined ? '' : `: ${say(reason)}`
  if (to === 'complete') return lineOf('good', `complete${why}`)
  if (to === 'failed') return lineOf('bad', `failed${why}`)
  if (to === 'abandoned') return lineOf('warn', `abandoned${why}`)
  if (to === 'plan_ready') return lineOf('plain', `the plan needs your approval${why}`)
  return lineOf('quiet', `${say(from)} → ${say(to)}${why}`)
}

/** Who carries out a plan: the steps of one that is a runbook run without its agent. */
export function startLine({ provider, runs }: Fields): EventLine {
  const isOwn = provider === OWN_PROVIDER || runs === 'steps'
  return lineOf(
    'quiet',
    isOwn ? 'Casefile runs the steps of the plan' : `${say(provider)} carries out the plan`,
  )
}

export function diffLine({ file, additions, deletions, files, reason }: Fields): EventLine {
  if (reason !== undefined) return lineOf('quiet', `no diff: ${say(reason)}`)
  if (files === 0) return lineOf('quiet', 'nothing changed in the working folder')
  const more = typeof files === 'number' && files > 1 ? ` in ${files} files, most in` : ''
  return lineOf('plain', `changed: +${say(additions)} -${say(deletions)}${more} ${say(file)}`)
}

/** The run of an agent is a step of the session, but not of the plan. */
export function isAgentRun({ language }: { readonly language?: unknown }): boolean {
  return language === undefined
}

export function stepEndLine(fields: Fields): EventLine {
  const { step, exit, signal, duration_ms, timed_out, ended_by_service, start_error } = fields
  const { expected = exit === 0 } = fields
  const took = typeof duration_ms === 'number' ? `  ${duration(duration_ms)}` : ''
  const how = start_error
    ? `did not start: ${say(start_error)}`
    : timed_out
      ? 'stopped at its time limit'
      : exit === null
        ? `ended by ${say(signal ?? 'a signal')}`
        : ended_by_service
          ? 'stopped by the service because its turn was over'
          : `exit ${say(exit)}`
  const text = `${say(step)}  ${how}${took}`
  if (expected) return lineOf('good', text)
  return { tone: 'bad', sign: '✗', text }
}

export function toDoLine(entries: readonly unknown[]): EventLine {
  const items = entries.map((entry) => entry as { content?: unknown; status?: unknown } | null)
  const done = items.filter((item) => item?.status === 'completed')
  const now = items.find((item) => item?.status === 'in_progress')
  const rest = now ? `: ${say(now.content)}` : ''
  return lineOf('quiet', `to do: ${done.length} of ${items.length} done${rest}`)
}

export function outOfScopeLine(files: unknown, more: unknown): EventLine {
  const names = Array.isArray(files) ? files.map(say) : []
  const others = Math.max(names.length - 5, 0) + (typeof more === 'number' ? more : 0)
  const rest = others > 0 ? ` and ${others} more` : ''
  return lineOf(
    'bad',
    `changed outside the scope of the plan: ${names.slice(0, 5).join(', ')}${rest}`,
  )
}
