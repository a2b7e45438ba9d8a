import type { Console, ConsoleOptions } from '../console.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { resolveCase } from '../resolve/case.ts'
import { resolveSession, sessionPath } from '../resolve/session.ts'
import { jsonText } from '../output/json.ts'

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
  const id = await resolveCase(client, name)
  const session = await resolveSession(client, id, word)
  const body = { reason }
  const answer = await client.request('POST', `${sessionPath(session)}/abandon`, { body })
  terminal.print(json ? jsonText(answer.body) : `session ${session.number} is abandoned\n`)
  return EXIT.done
}
