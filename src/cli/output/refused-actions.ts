import type { SessionJson } from '../../http/schemas/session.ts'
import { foldRefused, refusedCount, refusedText } from '../../model/refused-actions.ts'
import { visibleText } from '../../model/visible-text.ts'
import type { Terminal } from './terminal.ts'
import { wrapped } from './wrapped.ts'

/** Actions that the agent of a session was denied, each with the reason on the next line. */
export function printRefused(
  { color, print, width }: Terminal,
  { plan, work, first }: SessionJson['findings']['refused'],
): void {
  if (plan + work === 0) return
  const when = plan > 0 ? `, ${plan} of them while it planned` : ''
  print(`\n${color.bold('Denied')}  ${refusedCount(plan + work)}${when}\n`)
  for (const { action, times } of foldRefused(first)) {
    const repeated = times > 1 ? color.dim(`  ${times} times`) : ''
    print(`  ${color.red('✗')} ${visibleText(refusedText(action))}${repeated}\n`)
    for (const line of wrapped(visibleText(action.reason), width() - 4).split('\n')) {
      print(`    ${line}\n`)
    }
  }
  const more = plan + work - first.length
  if (more > 0) print(`  and ${more} more: see the audit trail\n`)
}
