import type { Console } from '../console.ts'
import type { ExitCode } from '../output/exit-codes.ts'
import { exitOf, follow } from '../follow/follow.ts'
import { resolveCase } from '../resolve/case.ts'
import { type SessionJson, resolveSession } from '../resolve/session.ts'
import { sayFailed } from './planned.ts'

/** `casefile tail`: tells a session from its beginning to its end; Ctrl-C leaves it running. */
export async function tail(
  console: Console,
  name: string,
  word: string | undefined,
): Promise<ExitCode> {
  const { client, terminal, json, signal, isOwn } = console
  const session = await resolveSession(client, await resolveCase(client, name), word)
  const leave = () => {
    if (!isOwn()) terminal.warn(`session ${session.number} goes on without you; ${again(session)}`)
  }
  signal.addEventListener('abort', leave)
  try {
    if (session.state === 'plan_ready') sayWaiting(console, session)
    // without a service nobody could approve it while this one waits
    const until = isOwn() ? ['plan_ready'] : []
    const last = await follow(console, session, { until, envelopes: json })
    if (!json && last.state === 'failed') sayFailed(terminal, last)
    else if (!json) terminal.say(`session ${last.number} is ${last.state}`)
    return exitOf(last)
  } finally {
    signal.removeEventListener('abort', leave)
  }
}

function sayWaiting({ terminal }: Console, { case_id, number }: SessionJson): void {
  terminal.warn(
    `session ${number} waits for your approval: casefile approve ${case_id.slice(0, 8)} ${number}`,
  )
}

function again({ case_id, number }: SessionJson): string {
  return `casefile tail ${case_id.slice(0, 8)} ${number} follows it again`
}
