import type { CommandContext } from './context.ts'
import { usageError } from './output/exit-codes.ts'

/** Throws if the work would end with this command, or with another one that owns the workspace. */
export function requirePersistentService(
  { isPersistent }: Pick<CommandContext, 'isPersistent'>,
  what: 'plan' | 'run',
): void {
  if (isPersistent()) return
  throw usageError(
    `--detach needs a running service, which continues the ${what} after this command ends. Start one with: casefile serve. Or leave --detach out.`,
  )
}
