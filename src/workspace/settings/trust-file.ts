/** Reads and writes what the operator trusts, in the state folder. */

import { join } from 'node:path'
import * as z from 'zod'
import { writeDurable } from '../../files/durable-write.ts'
import { isWithin } from '../../files/real-path.ts'
import { createReread } from '../../files/reread.ts'
import { decodeUtf8, type ReadResult, readRegular } from '../../files/safe-read.ts'
import { AppError } from '../../model/app-error.ts'
import type { TrustedFiles } from './agent-files.ts'

/** What the operator of this machine trusts in a workspace. */
export interface Trusted {
  /** SHA-256 of `trustedText`; null if no settings are trusted. */
  settings: string | null
  /** Real paths outside the workspace in which sessions may work. */
  folders: readonly string[]
  /** Project files that agents may act on. */
  files: TrustedFiles
}

export interface TrustFile {
  /** The current content of the file; if it is damaged or missing, nothing is trusted. */
  read(): Promise<Trusted>
  /** Replaces everything that was trusted in this workspace; `time` is ISO 8601. */
  write(trusted: Trusted, time: string): Promise<void>
}

const TRUST_FILE = 'trust.json'
const MAX_BYTES = 1024 * 1024
/** File systems count time in ticks. A second change within a tick does not change the stamp. */
const TICK_MS = 50
const NOTHING: Trusted = { settings: null, folders: [], files: new Map() }
const SHA256 = z.string().regex(/^[0-9a-f]{64}$/)

/** Keyed by the real path of the workspace, as several workspaces may share a memory root and so a state folder. */
const CONTENT = z.object({
  workspaces: z.record(
    z.string(),
    z.object({
      settings: SHA256.nullable(),
      folders: z.array(z.string()),
      // older versions did not write it
      files: z.record(z.string(), SHA256).optional(),
      trusted_at: z.string(),
    }),
  ),
})
type Content = z.infer<typeof CONTENT>

/**
 * Opens the file in the state folder; both paths are real. If the state folder is inside the workspace, nothing is
 * trusted.
 */
export function createTrustFile(
  stateRoot: string,
  root: string,
  log: (line: string) => void,
): TrustFile {
  const path = join(stateRoot, TRUST_FILE)
  const isInside = isWithin(root, stateRoot)
  let isDamaged = false
  const content = createReread(path, {
    maxBytes: MAX_BYTES,
    settleMs: TICK_MS,
    take(read) {
      const found = contentOf(read)
      if (!found && !isDamaged)
        log(`${path} is damaged, so nothing counts as trusted: run casefile trust`)
      isDamaged = !found
      return found
    },
  })
  return {
    async read() {
      const { workspaces = {} } = (isInside ? null : await content()) ?? {}
      const mine = (Object.hasOwn(workspaces, root) && workspaces[root]) || null
      if (mine === null) return NOTHING
      const { settings, folders, files = {} } = mine
      return { settings, folders, files: new Map(Object.entries(files)) }
    },
    async write({ settings, folders, files }, time) {
      if (isInside) throw stateInsideError(stateRoot)
      const present = contentOf(await readRegular(path, { maxBytes: MAX_BYTES }))
      const mine = {
        settings,
        folders: [...folders],
        files: Object.fromEntries(files),
        trusted_at: time,
      }
      const workspaces = { ...present?.workspaces, [root]: mine }
      const text = `${JSON.stringify({ workspaces }, null, 2)}\n`
      await writeDurable(path, Buffer.from(text), { mode: 0o600 })
    },
  }
}

/** Null for invalid content. */
function contentOf(read: ReadResult): Content | null {
  if (!read.ok) return read.reason === 'missing' ? { workspaces: {} } : null
  const text = decodeUtf8(read.bytes)
  if (!text.ok) return null
  try {
    return CONTENT.safeParse(JSON.parse(text.text)).data ?? null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

function stateInsideError(stateRoot: string): AppError {
  return new AppError(
    'bad_request',
    `The state folder ${stateRoot} lies inside the workspace, where a clone could bring forged trust. Give another one with --state-dir, to casefile serve as well.`,
  )
}
