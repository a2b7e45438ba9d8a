import { Refusal } from '../../model/refusal.ts'
import { visibleText } from '../../model/visible-text.ts'
import type { Console, ConsoleOptions } from '../console.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { resolveCase } from '../resolve/case.ts'
import { jsonText } from '../output/json.ts'

export interface StateOptions extends ConsoleOptions {
  outcome?: string
  reason?: string
}

/** `casefile state`, and `casefile resolve`: puts a case into a state. */
export async function setState(
  { client, terminal, json }: Console,
  name: string,
  wanted: string,
  { outcome, reason }: StateOptions,
): Promise<ExitCode> {
  const id = await resolveCase(client, name)
  const body = { state: wanted.toUpperCase(), outcome, reason }
  const answer = await client.request('PUT', `/cases/${id}/state`, { body }).catch((error) => {
    throw shutGate(error, id)
  })
  const { state, title } = answer.body
  terminal.print(
    json ? jsonText(answer.body) : `${id.slice(0, 8)}  ${state}  ${visibleText(title)}\n`,
  )
  return EXIT.done
}

/** The gate that is shut in the words of the console; what is missing stands beside it in JSON. */
function shutGate(error: unknown, id: string): Error {
  if (!(error instanceof Refusal) || error.code !== 'proof_gate') return error as Error
  const { missing } = error.extra
  if (!Array.isArray(missing)) return error
  const message = [
    'The proof gate is shut. Missing:',
    ...missing.map((what) => `  ${visibleText(String(what))}`),
    `Attach proof with: casefile proof add ${id.slice(0, 8)}, and a file, or --artifact with what a session left. Read it, then: casefile proof verify ${id.slice(0, 8)}`,
  ].join('\n')
  return new Refusal(error.code, message, { extra: error.extra, cause: error })
}
