import type { Console } from '../console.ts'
import { wrongUsage } from '../usage.ts'

/** Refuses to leave something running where a command, this or another, is all that runs it. */
export function mustOutlast({ isLasting }: Console, what: 'plan' | 'run'): void {
  if (isLasting()) return
  throw wrongUsage(
    `--detach needs a running service, which goes on with the ${what} when this command has ended. Start one with: casefile serve. Or leave --detach out.`,
  )
}
