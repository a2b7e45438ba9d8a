import { lstat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { createDurable, makeFolder } from '../files/durable-write.ts'
import { codeOf, hasCode } from '../files/errno.ts'
import { entriesIn } from '../files/folder-names.ts'
import { discard } from '../files/new-file.ts'
import { decodeUtf8, readRegular, stampOf } from '../files/safe-read.ts'
import { sha256 } from '../markdown/session-file.ts'
import { Refusal } from '../model/refusal.ts'

/**
 * The texts of plans that sessions had, by their sha256, in the state folder: so that what a revision
 * changed can be shown. They are for comfort: a text that is not kept is a text that is not shown.
 */
export interface PlanTexts {
  /** Resolves when the text is on the disk, or when the log says why it is not. Never rejects for the disk. */
  keep(text: string): Promise<void>
  /** Whether something is kept for it, without reading it. */
  has(sha256: string): Promise<boolean>
  /** Null where it is not kept, or is not what it was any more. */
  read(sha256: string): Promise<string | null>
  /** Removes those not kept again for 90 days, and the oldest of more than 5,000. For the start. */
  prune(): Promise<void>
}

const KEPT_MS = 90 * 24 * 60 * 60 * 1000
const MAX_KEPT = 5000
/** As long as the session's file may be, in which a person may write any plan. */
const MAX_TEXT_BYTES = 8 * 1024 * 1024
const NAME = /^[0-9a-f]{64}$/

export function createPlanTexts(
  folder: string,
  log: (line: string) => void,
  { maxKept = MAX_KEPT, now = Date.now } = {},
): PlanTexts {
  async function write(hash: string, text: string): Promise<void> {
    const path = join(folder, hash)
    await makeFolder(folder, 0o700)
    try {
      await createDurable(path, Buffer.from(text), { mode: 0o600 })
    } catch (error) {
      if (!(error instanceof Refusal && error.code === 'already_exists')) throw error
      const time = now() / 1000
      await utimes(path, time, time) // in use again: its days count from now
    }
  }

  return {
    async keep(text) {
      if (text === '') return
      try {
        await write(sha256(text), text)
      } catch (error) {
        log(`a plan was not kept for comparison: ${whyOf(error)}`)
      }
    },
    async has(hash) {
      return NAME.test(hash) && (await stampOf(join(folder, hash))) !== null
    },
    async read(hash) {
      if (!NAME.test(hash)) return null
      const read = await readRegular(join(folder, hash), { maxBytes: MAX_TEXT_BYTES })
      const text = read.ok ? decodeUtf8(read.bytes) : null
      return text?.ok && sha256(text.text) === hash ? text.text : null
    },
    async prune() {
      try {
        await pruned(folder, maxKept, now() - KEPT_MS)
      } catch (error) {
        log(`old plans in the state folder may be left: ${whyOf(error)}`)
      }
    },
  }
}

async function pruned(folder: string, maxKept: number, oldest: number): Promise<void> {
  const kept = []
  for (const name of (await entriesIn(folder)).filter((name) => NAME.test(name))) {
    const path = join(folder, name)
    kept.push({ path, time: await timeOf(path) })
  }
  kept.sort((a, b) => b.time - a.time)
  for (const [index, { path, time }] of kept.entries()) {
    if (time < oldest || index >= maxKept) await discard(path)
  }
}

async function timeOf(path: string): Promise<number> {
  try {
    return (await lstat(path)).mtimeMs
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return 0
    throw error
  }
}

/** What the disk says; anything else is a mistake in this program, and thrown. */
function whyOf(error: unknown): string {
  if (error instanceof Refusal || codeOf(error) !== '') return (error as Error).message
  throw error
}
