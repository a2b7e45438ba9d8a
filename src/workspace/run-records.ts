import { readdir, readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder, writeDurable } from './durable-write.ts'
import { hasCode } from './errno.ts'

/** That a session runs on this machine, on disk before anything is started for it. */
export interface RunRecord {
  session_id: string
  case_id: string
  number: number
  /** The value of CASEFILE_RUN in the environment of every process of the run. */
  mark: string
  /** The process of the step under way, with its start time: pids are used again. */
  process: { pid: number; start: string | null; boot: string | null } | null
}

export interface RunRecords {
  write(record: RunRecord): Promise<void>
  remove(sessionId: string): Promise<void>
  /** What a service that died has left; a record that does not parse is skipped, and kept. */
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
        try {
          records.push(JSON.parse(await readFile(join(folder, name), 'utf8')) as RunRecord)
        } catch (error) {
          if (!(error instanceof SyntaxError)) throw error
          log(`the run record ${name} in the state folder is damaged and was skipped`)
        }
      }
      return records
    },
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
