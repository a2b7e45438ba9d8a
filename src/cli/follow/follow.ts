import { type ReceivedEvent, STREAM_PAUSES } from '../../client/session-stream.ts'
import type { SessionJson } from '../../http/schemas/session.ts'
import { readPlan } from '../../markdown/plan-steps.ts'
import { isPlanning, SESSION_STATES } from '../../model/session-state.ts'
import { OWN_PROVIDER } from '../../model/settings.ts'
import type { CommandContext } from '../context.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { printFailedTests } from '../output/failed-tests.ts'
import { jsonText } from '../output/json.ts'
import { printPlanned } from '../output/planned.ts'
import { sessionPath } from '../resolve/find-session.ts'
import { type EventPrinter, eventPrinter } from './event-printer.ts'
import { outputBackfill } from './output-backfill.ts'
import { progressLine } from './progress-line.ts'
import { createWaitForState } from './wait-for-state.ts'

export interface FollowOptions {
  /** Prints nothing before the first event of this type. */
  from?: string
  /** Ends as soon as the session is in one of these states. Default: when the stream ends. */
  until?: readonly string[]
  /** Shows only the progress line. */
  silent?: boolean
  /** A question stands in the last line while a plan waits. */
  asks?: boolean
  /** Prints one event per line as JSON. */
  envelopes?: boolean
}

/** Follows a session across restarts of the service. Resolves to the session at the end. */
export async function follow(
  context: CommandContext,
  session: SessionJson,
  options: FollowOptions = {},
): Promise<SessionJson> {
  const { client, terminal, signal, isOwn } = context
  const progress = progressLine(terminal)
  const printer: EventPrinter = eventPrinter(terminal, progress, options.asks)
  let hasBegun = options.from === undefined
  const print = (event: ReceivedEvent) => {
    hasBegun ||= event.type === options.from
    if (!hasBegun) return
    if (options.envelopes) return terminal.print(envelopeLine(event))
    if (options.silent) printer.progress(event)
    else printer.print(event)
  }
  const waitForState = createWaitForState({
    read: () => reread(context, session),
    until: options.until,
    isPrinting: !options.silent || !options.until,
  })
  const leave = () => {
    if (isOwn()) return
    const again = `casefile session watch ${session.case_id.slice(0, 8)} ${session.number}`
    terminal.warn(`session ${session.number} keeps running. Follow it again with: ${again}`)
  }
  signal.addEventListener('abort', leave)
  try {
    const output = outputBackfill(client, session)
    const stream = client.stream(`${sessionPath(session)}/stream`, {
      pauses: true,
      onOpen: output.mayMiss,
      onGone: () => progress.around(() => terminal.warn('service unreachable, retrying…')),
      onBack: () => progress.around(() => terminal.warn('the service is back')),
    })
    const isPrinted = !options.silent && !options.envelopes
    for await (const event of isPrinted ? output.fill(stream) : stream) {
      if (event.type === 'plan_approved') {
        const isThis = event.payload.plan_sha256 === session.plan_sha256
        printer.expect(await countSteps(isThis ? session : await reread(context, session)))
      }
      if (!STREAM_PAUSES.has(event.type)) print(event)
      if (isPrinted && hasBegun && event.type === 'tests_read' && event.payload.failed !== 0) {
        const current = await reread(context, session)
        progress.around(() => printFailedTests(terminal, current))
      }
      const finalSession = await waitForState(event)
      if (finalSession) return finalSession
    }
  } finally {
    signal.removeEventListener('abort', leave)
    printer.end()
    progress.end()
  }
  return reread(context, session)
}

/** Waits for the plan of a session and prints it, even if it was approved in between. */
export async function followPlanning(
  context: CommandContext,
  session: SessionJson,
): Promise<ExitCode> {
  const until = SESSION_STATES.filter((state) => !isPlanning(state))
  const planned = await follow(context, session, { silent: true, until })
  if (context.json) context.terminal.print(jsonText(planned))
  else await printPlanned(context, planned)
  return sessionExitCode(planned)
}

/** The exit code for a session's state. */
export function sessionExitCode({ state }: Pick<SessionJson, 'state'>): ExitCode {
  return state === 'failed' || state === 'abandoned' ? EXIT.sessionFailed : EXIT.done
}

/** The session as it is now. */
export async function reread(
  { client }: Pick<CommandContext, 'client'>,
  session: SessionJson,
): Promise<SessionJson> {
  return (await client.request('GET', sessionPath(session))).body
}

/** How many steps of a plan will run. */
async function countSteps({ plan, provider, origin }: SessionJson): Promise<number> {
  const { steps, isRunbook } = await readPlan(plan)
  // after an agent, the service runs only the steps that give proof
  const isEach = (isRunbook && origin !== 'terminal') || provider === OWN_PROVIDER
  const wanted = steps.filter(({ proof }) => isEach || proof !== null)
  return wanted.length + steps.filter(({ baseline }) => baseline).length
}

/** The event as the API sends it. */
function envelopeLine({ type, time, payload }: ReceivedEvent): string {
  return jsonText({ event_type: type, timestamp: time, payload }, 0)
}
