/** How it was before a run, beside its run record: after a crash of the service, the next start compares with it. */

import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { makeFolder } from '../files/durable-write.ts'
import { readJsonFile } from '../files/json-file.ts'

const paths = z.array(z.string())
const places = z.record(z.string(), z.object({ stamp: z.string(), starts: z.string() }))
const found = z.object({ places, unchecked: z.number() })

const NOTE = z.object({
  scope: z.object({
    workdir: z.string().min(1),
    exclude: paths,
    isGitKept: z.boolean(),
    path: paths,
    home: z.string().min(1).nullable(),
    named: paths.nullable(),
  }),
  inWorkdir: found,
  inHome: found,
  /** The git folders that the run must not redirect. */
  folders: z.array(z.object({ path: z.string().min(1), name: z.string() })),
})

export type LeftNote = z.infer<typeof NOTE>

export interface LeftNotes {
  write(sessionId: string, note: LeftNote): Promise<void>
  /** Null if there is none. */
  read(sessionId: string): Promise<LeftNote | null>
  remove(sessionId: string): Promise<void>
}

export function openLeftNotes(stateRoot: string): LeftNotes {
  const root = join(stateRoot, 'runs')
  const fileOf = (sessionId: string) => join(root, `${sessionId}.json`)
  return {
    async write(sessionId, note) {
      await makeFolder(root, 0o700)
      await writeFile(fileOf(sessionId), JSON.stringify(note), { mode: 0o600 })
    },
    async read(sessionId) {
      return NOTE.safeParse(await readJsonFile(fileOf(sessionId))).data ?? null
    },
    remove: (sessionId) => rm(fileOf(sessionId), { force: true }),
  }
}
