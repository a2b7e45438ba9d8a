import type { Console, ConsoleOptions } from '../console.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { caseNamed } from '../named/case.ts'
import { sessionNamed, sessionPath } from '../named/session.ts'
import { jsonText } from '../text/json-text.ts'

export interface AbandonOptions extends ConsoleOptions {
  reason?: string
}

/** `casefile abandon`: ends a session; what it runs is stopped. */
export async function abandon(
  { client, terminal, json }: Console,
  name: string,
  word: string | undefined,
  { reason }: AbandonOptions,
): Promise<ExitCode> {
  const id = await caseNamed(client, name)
  const session = await sessionNamed(client, id, word)
  const body = { reason }
  const answer = await client.ask('POST', `${sessionPath(session)}/abandon`, { body })
  terminal.print(json ? jsonText(answer.body) : `session ${session.number} is abandoned\n`)
  return EXIT.done
}
