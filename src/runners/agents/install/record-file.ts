import { join } from 'node:path'
import * as z from 'zod'
import { makeFolder, writeDurable } from '../../../files/durable-write.ts'
import { readRegular } from '../../../files/safe-read.ts'
import { parsedJson } from '../unknown-record.ts'
import { hookFiles } from './hook-files.ts'

/** Records about this machine's settings files, by path. */
export interface Records<T> {
  read(path: string): Promise<T | null>
  write(path: string, record: T | null): Promise<void>
}

const MAX_BYTES = 16 * 1024 * 1024

/** Kept in a file of the state folder. A file that is missing or damaged has no records. */
export function createRecords<T>(stateDir: string, name: string, record: z.ZodType<T>): Records<T> {
  const { folder } = hookFiles(stateDir)
  const file = join(folder, name)
  const content = z.record(z.string(), record)

  async function readAll(): Promise<Record<string, T>> {
    const read = await readRegular(file, { maxBytes: MAX_BYTES })
    return (read.ok && content.safeParse(parsedJson(read.bytes.toString())).data) || {}
  }

  return {
    async read(path) {
      const all = await readAll()
      return (Object.hasOwn(all, path) && all[path]) || null
    },
    async write(path, record) {
      const { [path]: _, ...others } = await readAll()
      const all = record === null ? others : { ...others, [path]: record }
      await makeFolder(folder, 0o700)
      const text = `${JSON.stringify(all, null, 2)}\n`
      await writeDurable(file, Buffer.from(text), { mode: 0o600 })
    },
  }
}
