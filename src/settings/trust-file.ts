/** Reads and writes what the operator trusts, in the state folder. */

import { join } from 'node:path'
import * as z from 'zod'
import { writeDurable } from '../files/durable-write.ts'
import { isWithin } from '../files/real-path.ts'
import { createReread } from '../files/reread.ts'
import { decodeUtf8, type ReadResult, readRegular } from '../files/safe-read.ts'
import { AppError } from '../model/app-error.ts'
import type { Restrictions } from '../model/restrictions.ts'
import { ISOLATIONS } from '../model/settings.ts'
import type { TrustedFiles } from './agent-files.ts'

/** What the operator of this machine trusts in a workspace. */
export interface Trusted {
  /** SHA-256 of `trustedText`; null if no settings are trusted. */
  settings: string | null
  /** Real paths outside the workspace in which sessions may work. */
  folders: readonly string[]
  /** Project files that agents may act on. */
  files: TrustedFiles
  /** What casefile.md must not restrict less without trust; null if no run began yet. */
  restrictions: Restrictions | null
}

export interface TrustFile {
  /** The current content of the file; if it is damaged or missing, nothing is trusted. */
  read(): Promise<Trusted>
  /** Replaces everything that was trusted in this workspace; `time` is ISO 8601. */
  write(trusted: Trusted, time: string): Promise<void>
  /** Stores what a run begins with. Trusts nothing. */
  restrict(restrictions: Restrictions): Promise<void>
}

const TRUST_FILE = 'trust.json'
const MAX_BYTES = 1024 * 1024
/** File systems count time in ticks. A second change within a tick does not change the stamp. */
const TICK_MS = 50
const NOTHING: Trusted = { settings: null, folders: [], files: new Map(), restrictions: null }
const SHA256 = z.string().regex(/^[0-9a-f]{64}$/)
const NAMES = z.array(z.string())

/** Keyed by the real path of the workspace, as several workspaces may share a memory root and so a state folder. */
const CONTENT = z.object({
  workspaces: z.record(
    z.string(),
    z.object({
      settings: SHA256.nullable(),
      folders: NAMES,
      // older versions did not write these
      files: z.record(z.string(), SHA256).optional(),
      restrictions: z
        .object({
          hide: NAMES,
          cache: NAMES.nullable(),
          sandbox: z.union([z.enum(['mounts', 'none']), z.object({ hosts: NAMES })]),
          checklist: NAMES,
          signApprovals: z.boolean(),
          isolation: z.enum(ISOLATIONS),
        })
        .optional(),
      // missing if nothing was trusted yet
      trusted_at: z.string().optional(),
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
        log(`${path} is damaged, so nothing counts as trusted: run casefile doctor --trust`)
      isDamaged = !found
      return found
    },
  })
  async function mine() {
    const { workspaces = {} } = (await content()) ?? {}
    return (Object.hasOwn(workspaces, root) && workspaces[root]) || null
  }
  async function put(entry: Content['workspaces'][string]): Promise<void> {
    const present = contentOf(await readRegular(path, { maxBytes: MAX_BYTES }))
    const workspaces = { ...present?.workspaces, [root]: entry }
    const text = `${JSON.stringify({ workspaces }, null, 2)}\n`
    await writeDurable(path, Buffer.from(text), { mode: 0o600 })
  }
  return {
    async read() {
      const found = await mine()
      if (found === null) return NOTHING
      const { restrictions = null } = found
      if (isInside) return { ...NOTHING, restrictions }
      const { settings, folders, files = {} } = found
      return { settings, folders, files: new Map(Object.entries(files)), restrictions }
    },
    async write({ settings, folders, files, restrictions }, time) {
      if (isInside) throw stateInsideError(stateRoot)
      await put({
        settings,
        folders: [...folders],
        files: Object.fromEntries(files),
        ...(restrictions && { restrictions: stored(restrictions) }),
        trusted_at: time,
      })
    },
    async restrict(restrictions) {
      const found = (await mine()) ?? { settings: null, folders: [] }
      if (JSON.stringify(found.restrictions) === JSON.stringify(stored(restrictions))) return
      await put({ ...found, restrictions: stored(restrictions) })
    },
  }
}

function stored({ hide, cache, sandbox, checklist, signApprovals, isolation }: Restrictions) {
  return {
    hide: [...hide],
    cache: cache && [...cache],
    sandbox: typeof sandbox === 'object' ? { hosts: [...sandbox.hosts] } : sandbox,
    checklist: [...checklist],
    signApprovals,
    isolation,
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
