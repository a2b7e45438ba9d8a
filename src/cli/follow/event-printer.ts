import type { ReceivedEvent } from '../../client/session-stream.ts'
import { type EventLine, isAgentRun } from '../../model/event-line.ts'
import { eventLine } from '../../model/event-lookup.ts'
import type { Terminal } from '../output/terminal.ts'
import { clock } from '../output/times.ts'
import type { ProgressLine } from './progress-line.ts'
import { printOutput, stepOutput } from './step-output.ts'

/** Prints the events of a session, line by line. */
export interface EventPrinter {
  print(event: ReceivedEvent): void
  /** The number of steps that the service runs. */
  expect(steps: number): void
  /** Updates only the progress line. */
  progress(event: ReceivedEvent): void
  end(): void
}

export function eventPrinter(terminal: Terminal, line: ProgressLine, asks = false): EventPrinter {
  const output = stepOutput(terminal)
  let steps = 0
  const seen = new Map<string, number>()
  let position = 0
  let running: string | null = null

  function progress({ type, time, payload }: ReceivedEvent): void {
    const from = Date.parse(time) || Date.now()
    if (type === 'step_started') {
      running = String(payload.step)
      const which = isAgentRun(payload) ? '' : `step ${count()}  `
      line.show(`${which}${words(running)}`, from)
    } else if (type === 'queued') {
      line.show('waiting in line', from)
    } else if (type === 'session_state_changed') {
      const state = String(payload.new_state)
      line.show(asks && state === 'plan_ready' ? '' : (PROGRESS[state] ?? ''), from)
    }
  }

  const count = () => (steps > 0 ? `${position} of ${steps}` : String(position))

  function print(event: ReceivedEvent): void {
    const { type, payload, time } = event
    if (type === 'session_output') {
      output.take(String(payload.step), String(payload.text))
      return
    }
    if (type === 'step_finished') {
      const wasSeen = output.finish(String(payload.step))
      if (!wasSeen && payload.tail) printOutput(terminal, String(payload.tail))
    }
    // the output shows these in more detail
    if (OF_OUTPUT.has(type) && output.isOpen()) return
    const shown = eventLine(type, payload, count())
    if (shown) terminal.print(`${terminal.color.dim(clock(time))}  ${painted(terminal, shown)}\n`)
  }

  /** Counts steps; a replay starts again at one, and a check that runs again has its number already. */
  function note({ type, payload }: ReceivedEvent): void {
    if (type === 'resync') seen.clear()
    if (type !== 'step_started' || isAgentRun(payload)) return
    const name = String(payload.step)
    position = seen.get(name) ?? seen.size + 1
    seen.set(name, position)
  }

  return {
    progress(event) {
      note(event)
      progress(event)
    },
    expect(count) {
      steps = count
    },
    print(event) {
      note(event)
      line.around(() => print(event))
      progress(event)
    },
    end: () => line.around(() => void (running !== null && output.finish(running))),
  }
}

const OF_OUTPUT = new Set(['tool_call', 'agent_retry', 'agent_plan'])

/** The text of the progress line in each state. */
const PROGRESS: Record<string, string> = {
  created: 'reading the case',
  planning: 'planning',
  plan_ready: 'the plan needs your approval',
  approved: 'starting',
  executing: 'working',
}

function painted({ color }: Terminal, { sign, tone, text }: EventLine): string {
  const line = `${sign} ${text}`
  switch (tone) {
    case 'quiet':
      return color.dim(line)
    case 'good':
      return color.green(line)
    case 'warn':
      return color.yellow(line)
    case 'bad':
      return color.red(line)
    case 'step':
      return color.cyan(line)
    case 'plain':
      return line
    default:
      return tone satisfies never
  }
}

function words(step: string): string {
  return step.replace(/[^\w-]/g, '')
}
