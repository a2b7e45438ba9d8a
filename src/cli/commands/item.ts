import type { Console, ConsoleOptions } from '../console.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { resolveCase } from '../resolve/case.ts'
import { jsonText } from '../output/json.ts'
import { gateText } from './gate.ts'

export interface ItemOptions extends ConsoleOptions {
  type: string
  required?: boolean
}

/** `casefile item`: adds an item to the proof checklist of a case, and shows the gate with it. */
export async function addItem(
  { client, terminal, json }: Console,
  name: string,
  description: string,
  { type, required = false }: ItemOptions,
): Promise<ExitCode> {
  const id = await resolveCase(client, name)
  const body = { description, type, required }
  const answer = await client.request('POST', `/cases/${id}/proof/checklist`, { body })
  if (json) terminal.print(jsonText(answer.body))
  else terminal.print(gateText((await client.request('GET', `/cases/${id}/gate`)).body, terminal))
  return EXIT.done
}
