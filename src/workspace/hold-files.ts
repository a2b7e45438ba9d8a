import { readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { makeFolder, writeDurable } from '../files/durable-write.ts'
import { codeOf, hasCode } from '../files/errno.ts'
import { entriesIn } from '../files/folder-names.ts'
import { CASE_STATES } from '../model/case-state.ts'
import type { Pins } from '../model/held.ts'
import { UUID } from '../model/words.ts'

/** A session that executes while its processes could write the files of the cases. */
export interface OpenRun {
  session_id: string
  case_id: string
  number: number
}

/** What counted when the first of the runs began. */
export interface Watch {
  runs: OpenRun[]
  /** What was held back already by then: no run of these did it. */
  told: string[]
  cases: Record<string, Pins>
}

/** What counts of the cases, in the state folder: one file for all as a run began, one for each case that went on since. */
export interface HoldFiles {
  /** What is damaged is skipped, and said in the log. */
  read(): Promise<{ watch: Watch | null; own: Map<string, Pins> }>
  writeWatch(watch: Watch): Promise<void>
  removeWatch(): Promise<void>
  write(caseId: string, pins: Pins): Promise<void>
  remove(caseId: string): Promise<void>
}

const WATCH_FILE = 'watch.json'

const PINS = z.object({
  state: z.enum(CASE_STATES).optional(),
  required: z.array(z.object({ description: z.string(), type: z.string().nullable() })).optional(),
  proofs: z.record(z.string(), z.string().nullable()),
  sessions: z.record(z.string(), z.string().nullable()),
  whole: z.boolean(),
})
const RUN = z.object({ session_id: z.string(), case_id: z.string(), number: z.number() })
const WATCH = z.object({
  runs: z.array(RUN),
  told: z.array(z.string()),
  cases: z.record(z.string(), PINS),
})

export function createHoldFiles(stateRoot: string, log: (line: string) => void): HoldFiles {
  const folder = join(stateRoot, 'holds')
  const pathOf = (caseId: string) => join(folder, `${caseId}.json`)

  async function write(path: string, value: Watch | Pins): Promise<void> {
    await makeFolder(folder, 0o700)
    await writeDurable(path, Buffer.from(JSON.stringify(value)), { mode: 0o600 })
  }

  async function parsed<T>(name: string, shape: z.ZodType<T>): Promise<T | null> {
    const found = await contentOf(join(folder, name), shape)
    if (found === 'damaged') {
      log(
        `holds/${name} in the state folder is damaged and was skipped: look at the cases yourself`,
      )
    }
    return found === 'damaged' ? null : found
  }

  return {
    async read() {
      const watch = await parsed(WATCH_FILE, WATCH)
      const own = new Map<string, Pins>()
      for (const name of await entriesIn(folder)) {
        const caseId = name.replace(/\.json$/, '')
        const pins = UUID.test(caseId) ? await parsed(name, PINS) : null
        if (pins) own.set(caseId, pins)
      }
      return { watch, own }
    },
    writeWatch: (watch) => write(join(folder, WATCH_FILE), watch),
    removeWatch: () => removed(join(folder, WATCH_FILE)),
    write: (caseId, pins) => write(pathOf(caseId), pins),
    remove: (caseId) => removed(pathOf(caseId)),
  }
}

async function contentOf<T>(path: string, shape: z.ZodType<T>): Promise<T | 'damaged' | null> {
  try {
    return shape.safeParse(JSON.parse(await readFile(path, 'utf8'))).data ?? 'damaged'
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null
    if (error instanceof SyntaxError || codeOf(error) !== '') return 'damaged'
    throw error
  }
}

async function removed(path: string): Promise<void> {
  try {
    await unlink(path)
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
  }
}
