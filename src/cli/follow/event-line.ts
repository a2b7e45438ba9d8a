import type { ReceivedEvent } from '../../client/session-stream.ts'
import { retryText } from '../../model/agent-retry.ts'
import { readUsage, usageText } from '../../model/usage.ts'
import { visibleText } from '../../model/visible-text.ts'
import { callText } from '../../runners/agents/readable-output.ts'
import { duration } from '../output/times.ts'

/** An event as a line of text, with its sign and its importance. */
export interface EventLine {
  sign: string
  tone: 'quiet' | 'plain' | 'good' | 'bad' | 'step'
  text: string
}

type Payload = Record<string, unknown>

/**
 * An event of a session as one line for people; null if it is of no use to them. `count`: the position of the step,
 * and the number of steps.
 */
export function eventLine({ type, payload }: ReceivedEvent, count: string): EventLine | null {
  const format = FORMATS[type]
  if (format) return format(payload, count)
  return { sign: ' ', tone: 'quiet', text: `${words(type)}${details(payload)}` }
}

const plain = (text: string): EventLine => ({ sign: '•', tone: 'plain', text })
const quiet = (text: string): EventLine => ({ sign: ' ', tone: 'quiet', text })
const bad = (text: string): EventLine => ({ sign: '!', tone: 'bad', text })

const FORMATS: Record<string, (payload: Payload, count: string) => EventLine | null> = {
  session_created: ({ type, provider }) =>
    plain(`session created: ${say(type)} by ${say(provider)}`),
  context_loaded: () => quiet('the case was read'),
  hypothesis_written: () => null,
  plan_written: ({ sha256 }) => quiet(`plan written (${short(sha256)})`),
  plan_edited: ({ by, sha256 }) => plain(`plan edited by ${say(by)} (${short(sha256)})`),
  plan_approved: ({ plan_sha256 }) => ({
    sign: '✓',
    tone: 'good',
    text: `plan approved (${short(plan_sha256)})`,
  }),
  session_started: ({ provider }) => quiet(`${say(provider)} started working`),
  session_state_changed: ({ old_state, new_state, reason }) =>
    stateLine(old_state, new_state, reason),
  step_started: ({ step, language }, count) => ({
    sign: '▶',
    tone: 'step',
    text: isAgentsRun({ language }) ? say(step) : `${say(step)}  ${say(language)}, step ${count}`,
  }),
  step_finished: stepFinished,
  tests_read: ({ run, passed, failed }) =>
    failed === 0
      ? { sign: '✓', tone: 'good', text: `${say(passed)} of ${say(run)} tests pass` }
      : bad(`${say(failed)} of ${say(run)} tests failed`),
  diff_taken: ({ file, additions, deletions, files, diff, reason }) => {
    if (diff === null) return quiet(`no diff: ${say(reason)}`)
    const more = typeof files === 'number' && files > 1 ? ` in ${files} files, most in` : ''
    return plain(`changed: +${say(additions)} -${say(deletions)}${more} ${say(file)}`)
  },
  tool_call: ({ tool, kind, title, status }) => {
    // the end of the step has a line too
    if (status === 'pending' || status === 'in_progress') return null
    const call = callText({
      tool: String(tool),
      ...(typeof kind === 'string' ? { kind } : {}),
      ...(typeof title === 'string' ? { title } : {}),
    })
    return quiet(`${say(call)}${status === 'failed' ? ': failed' : ''}`)
  },
  denied: ({ tool, title, reason }) => bad(`denied: ${say(title ?? tool)}: ${say(reason)}`),
  guarded: ({ guard, reason }) =>
    guard === 'mount' ? null : quiet(`no read-only mounts: ${say(reason)}`),
  agent_started: ({ mode, command, version, warning }) => {
    const [program = ''] = Array.isArray(command) ? command : []
    const which = version === undefined ? say(program) : `${say(program)} ${say(version)}`
    const what = mode === 'plan' ? 'plans' : 'works'
    return warning === undefined
      ? quiet(`${which} ${what}`)
      : bad(`${which} ${what}: ${say(warning)}`)
  },
  agent_session: () => null,
  agent_retry: (payload) => plain(say(retryText(payload))),
  agent_usage: (payload) => {
    const used = usageText(readUsage(payload))
    return used === '' ? null : quiet(`used ${say(used)}`)
  },
  agent_plan: ({ entries }) => {
    const items = Array.isArray(entries) ? entries : []
    const done = items.filter(({ status }) => status === 'completed')
    const now = items.find(({ status }) => status === 'in_progress')
    const rest = now === undefined ? '' : `: ${say(now.content)}`
    return quiet(`to do: ${done.length} of ${items.length} done${rest}`)
  },
  agent_completed: () => null,
  evidence_recorded: () => null,
  session_completed: () => null,
  session_sealed: () => null,
  resync: () => bad('the session’s audit log was replaced; showing it again from the start'),
}

/** The run of an agent is a step of the session, but not of the plan. */
export function isAgentsRun({ language }: Payload): boolean {
  return language === undefined
}

function stateLine(from: unknown, to: unknown, reason: unknown): EventLine {
  const why = reason === undefined ? '' : `: ${say(reason)}`
  if (to === 'complete') return { sign: '✓', tone: 'good', text: `complete${why}` }
  if (to === 'failed' || to === 'abandoned') return bad(`${to}${why}`)
  if (to === 'plan_ready') return plain(`the plan needs your approval${why}`)
  return quiet(`${say(from)} → ${say(to)}${why}`)
}

function stepFinished(payload: Payload): EventLine {
  const { step, exit, signal, duration_ms, timed_out, ended_by_service, start_error } = payload
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
  const isGood = exit === 0
  return {
    sign: isGood ? '✓' : '✗',
    tone: isGood ? 'good' : 'bad',
    text: `${say(step)}  ${how}${took}`,
  }
}

function details(payload: Payload): string {
  const shown = Object.entries(payload).filter(([key]) => key !== 'case_id' && key !== 'session_id')
  if (shown.length === 0) return ''
  const text = shown.map(([key, value]) => `${key}=${short(value)}`).join(' ')
  return `: ${text.length > 200 ? `${text.slice(0, 199).toWellFormed()}…` : text}`
}

/** Text that others wrote, on one line and without characters that move the cursor. */
function say(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return visibleText((text ?? '').replace(/\s+/g, ' '))
}

/** The part of a hash that people compare. */
function short(value: unknown): string {
  return say(value).replace(/\b([0-9a-f]{8})[0-9a-f]{56}\b/g, '$1')
}

function words(type: string): string {
  return visibleText(type.replaceAll('_', ' '))
}
