import { readdir, readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { makeFolder, writeDurable } from '../../files/durable-write.ts'
import { codeOf, hasCode } from '../../files/errno.ts'

/** That a session runs on this machine, on disk before anything is started for it. */
export interface RunRecord {
  session_id: string
  case_id: string
  number: number
  /** The value of CASEFILE_RUN in the environment of every process of the run. */
  mark: string
  /** The process of the step under way, with its start time: pids are used again. */
  process: { pid: number; start: string | null; boot: string | null } | null
  /** The agent's own id of its conversation, once it is known. */
  agent_session: string | null
}

export interface RunRecords {
  write(record: RunRecord): Promise<void>
  remove(sessionId: string): Promise<void>
  /** What a service that died has left; a record that cannot be read or makes no sense is skipped, and kept. */
  all(): Promise<RunRecord[]>
}

export function createRunRecords(folder: string, log: (line: string) => void): RunRecords {
  const path = (sessionId: string) => join(folder, `${sessionId}.json`)
  return {
    async write(record) {
      await makeFolder(folder, 0o700)
      await writeDurable(path(record.session_id), Buffer.from(JSON.stringify(record)))
    },
    async remove(sessionId) {
      try {
        await unlink(path(sessionId))
      } catch (error) {
        if (!hasCode(error, 'ENOENT')) throw error
      }
    },
    async all() {
      const records: RunRecord[] = []
      for (const name of await names(folder)) {
        const record = await readRecord(folder, name)
        if (record) records.push(record)
        else log(`the run record ${name} in the state folder is damaged and was skipped`)
      }
      return records
    },
  }
}

/** Its processes are ended by these numbers: id 0 or -1 would mean the service's own group, or everyone. */
const RECORD = z.object({
  session_id: z.string().min(1),
  case_id: z.string().min(1),
  number: z.number().int().positive(),
  mark: z.string().min(1),
  process: z
    .object({
      pid: z.number().int().min(2),
      start: z.string().nullable(),
      boot: z.string().nullable(),
    })
    .nullable(),
  agent_session: z.string().nullable().default(null),
})

async function readRecord(folder: string, name: string): Promise<RunRecord | null> {
  try {
    const { data } = RECORD.safeParse(JSON.parse(await readFile(join(folder, name), 'utf8')))
    return data && `${data.session_id}.json` === name ? data : null
  } catch (error) {
    if (error instanceof SyntaxError || codeOf(error) !== '') return null
    throw error
  }
}

async function names(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => /^[0-9a-f-]{36}\.json$/.test(name))
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  }
}
