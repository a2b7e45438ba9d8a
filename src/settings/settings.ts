/** Reads casefile.md, again after each change. */

import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { decoded } from '../files/decoded.ts'
import { createReread } from '../files/reread.ts'
import { type FileStamp, type ReadResult, readRegular } from '../files/safe-read.ts'
import { readSettings } from '../markdown/settings-file.ts'
import type { Problem } from '../model/problem.ts'
import {
  DEFAULT_SETTINGS,
  MAX_SETTINGS_BYTES,
  SETTINGS_FILE,
  type Settings,
} from '../model/settings.ts'

/** Editors leave a file half-saved for up to 500 ms. */
const SAVED_MS = 600
/** A save by rename leaves no file for less than this time. */
const GAP_MS = 50

/**
 * Returns the current settings; casefile.md is read again if it changed. While it is unreadable, the last settings
 * apply, so that a half-typed file changes no time limit; without earlier settings the defaults apply.
 */
export function createSettings(root: string): () => Promise<Settings> {
  const path = join(root, SETTINGS_FILE)
  let good: { settings: Settings; closed: boolean } | null = null

  function broken(problem: Problem): Settings {
    const counts = good ? 'the settings that it gave before count' : 'the defaults count'
    const message = `${problem.message}; until it can be read again ${counts}`
    const settings = good?.settings ?? DEFAULT_SETTINGS
    return { ...settings, problems: [{ ...problem, message }], lines: new Map() }
  }

  async function take(first: ReadResult): Promise<Settings> {
    const read = isMissing(first) && good ? await again() : first
    if (isMissing(read)) {
      good = null
      return DEFAULT_SETTINGS
    }
    const result = decoded(read, SETTINGS_FILE)
    if (!result.ok) return broken(result.problem)
    const reading = readSettings(result.text)
    if (!reading.ok) return broken(reading.problem)
    const closed = /[\r\n]$/.test(result.text)
    if (good?.closed && !closed && isYoung(result.stamp)) return good.settings
    good = { settings: reading.settings, closed }
    return reading.settings
  }

  async function again(): Promise<ReadResult> {
    await delay(GAP_MS)
    return readRegular(path, { maxBytes: MAX_SETTINGS_BYTES })
  }

  return createReread(path, { maxBytes: MAX_SETTINGS_BYTES, settleMs: SAVED_MS, take })
}

function isMissing(read: ReadResult): boolean {
  return !read.ok && read.reason === 'missing'
}

/** A file without its final line end may still be written. */
function isYoung({ ctimeMs }: FileStamp): boolean {
  const age = Date.now() - ctimeMs
  return Math.abs(age) < SAVED_MS // negative by a fraction of a millisecond, or if the clock was set back
}
