import type { Gate } from '../../model/gate.ts'
import { visibleText } from '../../model/visible-text.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { resolveCase } from '../resolve/case.ts'
import type { ReadingConsole } from '../reading/reading-console.ts'
import type { Terminal } from '../output/terminal.ts'
import { jsonText } from '../output/json.ts'

/** `casefile gate`: what RESOLVED needs, and what is missing. */
export async function gate(
  { client, terminal, json }: ReadingConsole,
  name: string,
): Promise<ExitCode> {
  const id = await resolveCase(client, name)
  const { body } = await client.request('GET', `/cases/${id}/gate`)
  terminal.print(json ? jsonText(body) : gateText(body, terminal))
  if (!json)
    terminal.say(
      `\nNext: ${body.open ? 'casefile resolve' : 'casefile proof add'} ${id.slice(0, 8)}`,
    )
  return body.open ? EXIT.done : EXIT.gateShut
}

/** The checklist with what serves each item, and what is missing below it. */
export function gateText({ open, items, missing }: Gate, { color }: Terminal): string {
  const lines = items.map(({ description, type, required, satisfied_by }) => {
    const sign = satisfied_by ? color.green('✓') : required ? color.red('✗') : color.dim('·')
    const by = satisfied_by ? ` by ${satisfied_by.slice(0, 8)}` : ''
    const kind = `${type ?? 'no type'}${required ? '' : ', optional'}${by}`
    return `${sign} ${visibleText(description)} ${color.dim(`(${visibleText(kind)})`)}`
  })
  const verdict = open
    ? [color.green('The gate is open: the case can be resolved.')]
    : [color.red('The gate is shut. Missing:'), ...missing.map((what) => `  ${visibleText(what)}`)]
  return [...lines, ...verdict].map((line) => `${line}\n`).join('')
}
