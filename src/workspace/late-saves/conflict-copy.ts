import { basename, dirname, join } from 'node:path'
import { createDurable } from '../../files/durable-write.ts'
import { conflictName } from '../../markdown/conflict-name.ts'
import { AppError } from '../../model/app-error.ts'

/** Writes another version of a file beside it, under a free name, and returns that name. */
export async function keepConflictCopy(
  path: string,
  bytes: Uint8Array,
  { time, within }: { time: string; within: string },
): Promise<string> {
  for (let count = 1; ; count++) {
    const name = conflictName(basename(path), time, count)
    try {
      await createDurable(join(dirname(path), name), bytes, { within })
      return name
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'already_exists')) throw error
    }
  }
}
