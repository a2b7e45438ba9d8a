import type { ApiReader } from '../../client/client.ts'
import { isPlanning, SESSION_STATES } from '../../model/session-state.ts'
import type { Console, ConsoleOptions } from '../console.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { exitOf, follow } from '../follow/follow.ts'
import { resolveCase } from '../resolve/case.ts'
import { type SessionJson, resolveSession } from '../resolve/session.ts'
import { jsonText } from '../output/json.ts'
import { mustOutlast } from './detached.ts'
import { printPlanned } from './planned.ts'

export interface StartOptions extends ConsoleOptions {
  type?: string
  provider?: string
  note?: string
  /** The session that failed; true for the newest. */
  again?: string | true
  detach?: boolean
}

/** `casefile start`: a new session, followed until its plan waits. */
export async function start(
  console: Console,
  name: string,
  { type, provider, note, again, detach }: StartOptions,
): Promise<ExitCode> {
  const { client, terminal, json } = console
  if (detach) mustOutlast(console, 'plan')
  const id = await resolveCase(client, name)
  const body =
    again === undefined
      ? { type: type ?? 'implementing', provider, note }
      : { again: await failedSession(client, id, again), type, provider, note }
  const session: SessionJson = (await client.request('POST', `/cases/${id}/sessions`, { body })).body
  if (detach) {
    if (json) terminal.print(jsonText(session))
    else terminal.print(`session ${session.number} plans; casefile tail ${id.slice(0, 8)}\n`)
    return EXIT.done
  }
  return untilPlanned(console, session)
}

async function failedSession(client: ApiReader, id: string, again: string | true): Promise<string> {
  return (await resolveSession(client, id, again === true ? undefined : again)).id
}

/** Waits for the plan, and shows it; also where somebody has approved it already. */
export async function untilPlanned(console: Console, session: SessionJson): Promise<ExitCode> {
  const planned = await follow(console, session, {
    ...{ silent: true, until: SESSION_STATES.filter((state) => !isPlanning(state)) },
  })
  if (console.json) console.terminal.print(jsonText(planned))
  else await printPlanned(console, planned)
  return exitOf(planned)
}
