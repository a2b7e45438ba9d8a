import type { GateJson } from '../../http/schemas/case.ts'
import { visibleText } from '../../model/visible-text.ts'
import type { Terminal } from './terminal.ts'

/** The proof checklist with the proof of each item, and what is missing below it. */
export function gateText({ open, items, missing }: GateJson, { color }: Terminal): string {
  const lines = items.map(({ description, type, required, satisfied_by }) => {
    const sign = satisfied_by ? color.green('✓') : required ? color.red('✗') : color.dim('·')
    const by = satisfied_by ? ` by ${satisfied_by.slice(0, 8)}` : ''
    const kind = `${type ?? 'no type'}${required ? '' : ', optional'}${by}`
    return `${sign} ${visibleText(description)} ${color.dim(`(${visibleText(kind)})`)}`
  })
  const verdict = open
    ? [color.green('Proof requirements are met: the case can be resolved.')]
    : [
        color.red('Proof requirements are not met. Missing:'),
        ...missing.map((what) => `  ${visibleText(what)}`),
      ]
  return [...lines, ...verdict].map((line) => `${line}\n`).join('')
}
