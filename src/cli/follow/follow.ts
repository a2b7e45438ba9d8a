import { type ReceivedEvent, STREAM_PAUSES } from '../../client/session-stream.ts'
import { readPlan } from '../../markdown/plan-steps.ts'
import { OWN_PROVIDER } from '../../model/settings.ts'
import type { Console } from '../console.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { type SessionJson, sessionPath } from '../resolve/session.ts'
import { printFailedTests } from '../output/failed-tests.ts'
import { jsonText } from '../output/json.ts'
import { createWaitForState } from './wait-for-state.ts'
import { type EventPrinter, eventPrinter } from './event-printer.ts'
import { progressLine } from './progress-line.ts'
import { outputBackfill } from './output-backfill.ts'

export interface FollowOptions {
  /** Tells nothing before the first event of this type. */
  from?: string
  /** Ends as soon as the session is in one of these states, else with the stream. */
  until?: readonly string[]
  /** Tells the progress alone. */
  silent?: boolean
  /** One envelope per line in place of text. */
  envelopes?: boolean
}

/** Follows a session, over restarts of the service, and resolves to what it is then. */
export async function follow(
  console: Console,
  session: SessionJson,
  options: FollowOptions = {},
): Promise<SessionJson> {
  const { client, terminal } = console
  const progress = progressLine(terminal)
  const narrator: EventPrinter = eventPrinter(terminal, progress)
  let begun = options.from === undefined
  const tell = (event: ReceivedEvent) => {
    begun ||= event.type === options.from
    if (!begun) return
    if (options.envelopes) return terminal.print(envelopeLine(event))
    if (options.silent) narrator.progress(event)
    else narrator.tell(event)
  }
  const arrived = createWaitForState({
    ...{ read: () => reread(console, session), until: options.until },
    isTelling: !options.silent || !options.until,
  })
  try {
    const output = outputBackfill(client, session)
    const stream = client.stream(`${sessionPath(session)}/stream`, {
      pauses: true,
      onOpen: output.mayMiss,
      onGone: () => progress.around(() => terminal.warn('service gone, waiting…')),
      onBack: () => progress.around(() => terminal.warn('the service is back')),
    })
    const isTold = !options.silent && !options.envelopes
    for await (const event of isTold ? output.of(stream) : stream) {
      if (event.type === 'plan_approved') {
        narrator.expect(await stepsOf(event.payload.plan, session))
      }
      if (!STREAM_PAUSES.has(event.type)) tell(event)
      if (isTold && begun && event.type === 'tests_read' && event.payload.failed !== 0) {
        const named = await reread(console, session)
        progress.around(() => printFailedTests(terminal, named))
      }
      const present = await arrived(event)
      if (present) return present
    }
  } finally {
    narrator.end()
    progress.end()
  }
  return reread(console, session)
}

/** The exit code that a session's state stands for. */
export function exitOf({ state }: Pick<SessionJson, 'state'>): ExitCode {
  return state === 'failed' || state === 'abandoned' ? EXIT.sessionFailed : EXIT.done
}

/** The session as it is now. */
export async function reread({ client }: Console, session: SessionJson): Promise<SessionJson> {
  return (await client.request('GET', sessionPath(session))).body
}

async function stepsOf(plan: unknown, { provider }: SessionJson): Promise<number> {
  if (typeof plan !== 'string') return 0
  const { steps, isRunbook } = await readPlan(plan)
  // behind an agent the service runs what gives proof
  return isRunbook || provider === OWN_PROVIDER
    ? steps.length
    : steps.filter(({ proof }) => proof !== null).length
}

/** The event as it came (specification §6.2). */
function envelopeLine({ type, time, payload }: ReceivedEvent): string {
  return jsonText({ event_type: type, timestamp: time, payload }, 0)
}
