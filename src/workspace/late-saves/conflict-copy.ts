/** Conflict copies: `case.conflict-<time>.md` beside case.md, for a save that cannot be merged. */

import { basename, dirname, join } from 'node:path'
import { createDurable } from '../../files/durable-write.ts'
import { AppError } from '../../model/app-error.ts'

const COPY = /\.conflict-\d{8}T\d{6}\.\d{3}Z(?:-\d+)?\.md$/

/** Whether a file name is one that `conflictName` gives. */
export function isConflictCopy(name: string): boolean {
  return COPY.test(name)
}

/** Leaves room for the suffix in the 255 bytes of a file name. */
const MAX_STEM_BYTES = 200

/** `case.md` becomes `case.conflict-20261120T095400.000Z.md`; `time` is ISO 8601 UTC with milliseconds. */
export function conflictName(file: string, time: string, count = 1): string {
  const characters = [...file.replace(/\.md$/i, '')]
  while (Buffer.byteLength(characters.join('')) > MAX_STEM_BYTES) characters.pop()
  const stem = characters.join('')
  const nth = count === 1 ? '' : `-${count}`
  return `${stem}.conflict-${time.replaceAll(/[-:]/g, '')}${nth}.md`
}

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
