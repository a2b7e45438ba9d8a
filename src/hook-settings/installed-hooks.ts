import { join } from 'node:path'
import * as z from 'zod'
import { makeFolder, writeDurable } from '../files/durable-write.ts'
import { readRegular } from '../files/safe-read.ts'
import { hookFiles } from '../state/hook-files.ts'

/** What Casefile changed in a settings file, so that it can restore every byte. */
const INSTALLED = z.object({
  /** The file did not exist. */
  is_new: z.boolean(),
  /** Nor did its folder. */
  is_folder_new: z.boolean(),
  /** The text at `offset`, now `length` characters, was `original`. */
  offset: z.number(),
  original: z.string(),
  length: z.number(),
  /** Of the whole text after the change, and of the hooks in it. */
  sha256: z.string(),
  hooks_sha256: z.string(),
})
export type InstalledFile = z.infer<typeof INSTALLED>

/** The changes of this machine's settings files, by real path. */
export interface InstalledHooks {
  read(realPath: string): Promise<InstalledFile | null>
  write(realPath: string, record: InstalledFile | null): Promise<void>
}

const CONTENT = z.record(z.string(), INSTALLED)
const MAX_BYTES = 16 * 1024 * 1024

/** Kept in the state folder. If it is lost, the hooks are found by their lines. */
export function createInstalledHooks(stateDir: string): InstalledHooks {
  const { folder } = hookFiles(stateDir)
  const path = join(folder, 'installed.json')

  async function readAll(): Promise<z.infer<typeof CONTENT>> {
    const read = await readRegular(path, { maxBytes: MAX_BYTES })
    if (!read.ok) return {}
    try {
      return CONTENT.safeParse(JSON.parse(read.bytes.toString())).data ?? {}
    } catch (error) {
      if (error instanceof SyntaxError) return {}
      throw error
    }
  }

  return {
    async read(realPath) {
      const all = await readAll()
      return (Object.hasOwn(all, realPath) && all[realPath]) || null
    },
    async write(realPath, record) {
      const { [realPath]: _, ...others } = await readAll()
      const all = record === null ? others : { ...others, [realPath]: record }
      await makeFolder(folder, 0o700)
      const text = `${JSON.stringify(all, null, 2)}\n`
      await writeDurable(path, Buffer.from(text), { mode: 0o600 })
    },
  }
}
