import type { Console, ConsoleOptions } from '../console.ts'
import type { ExitCode } from '../exit-codes.ts'
import { caseNamed } from '../named/case.ts'
import { sessionNamed, sessionPath } from '../named/session.ts'
import { untilPlanned } from './start.ts'

export interface ReviseOptions extends ConsoleOptions {
  note: string
}

/** `casefile revise`: has a session plan again, and shows what comes of it. */
export async function revise(
  console: Console,
  name: string,
  word: string | undefined,
  { note }: ReviseOptions,
): Promise<ExitCode> {
  const { client } = console
  const id = await caseNamed(client, name)
  const session = await sessionNamed(client, id, word, { waiting: true })
  const answer = await client.ask('POST', `${sessionPath(session)}/revise`, { body: { note } })
  return untilPlanned(console, answer.body)
}
