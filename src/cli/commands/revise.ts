import type { Console, ConsoleOptions } from '../console.ts'
import type { ExitCode } from '../output/exit-codes.ts'
import { resolveCase } from '../resolve/case.ts'
import { resolveSession, sessionPath } from '../resolve/session.ts'
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
  const id = await resolveCase(client, name)
  const session = await resolveSession(client, id, word, { waiting: true })
  const answer = await client.request('POST', `${sessionPath(session)}/revise`, { body: { note } })
  return untilPlanned(console, answer.body)
}
