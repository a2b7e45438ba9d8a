import type { CommandContext } from './context.ts'
import { usageError } from './output/exit-codes.ts'

/** Throws where what is started would end with the command that runs it, this one or another. */
export function requirePersistentService(
  { isPersistent }: Pick<CommandContext, 'isPersistent'>,
  what: 'plan' | 'run',
): void {
  if (isPersistent()) return
  throw usageError(
    `--detach needs a running service, which goes on with the ${what} when this command has ended. Start one with: casefile serve. Or leave --detach out.`,
  )
}
