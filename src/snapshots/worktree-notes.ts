/** What this machine knows of the worktrees of isolated sessions: one small file beside each worktree. */

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { makeFolder, writeDurable } from '../files/durable-write.ts'
import { entriesIn } from '../files/folder-names.ts'
import { readJsonFile } from '../files/json-file.ts'

const commit = z.string().regex(/^[0-9a-f]{40,64}$/)
const path = z.string().min(1)

const NOTE = z.object({
  session_id: z.uuid(),
  case_id: z.uuid(),
  number: z.int().positive(),
  /** The git folder that all worktrees of the repository share. */
  common: path,
  /** The top of the working tree that the session would work in without isolation. */
  top: path,
  /** From the top to the working folder; empty if it is the top. */
  prefix: z.string(),
  /** From the top to the record; null if the record is not below it. */
  record: z.string().nullable(),
  branch: z.string().min(1),
  base: commit,
  objectFormat: z.string(),
  /**
   * `making`: nothing has worked there yet. `running`: the session may work there; its commits are in a repository of
   * its own. `kept`: all is committed in the repository. `removing`: it goes away.
   */
  stage: z.enum(['making', 'running', 'kept', 'removing']),
  /** When that stage began, in milliseconds. */
  since: z.number(),
  /** Untracked files that were copied in, and that git does not ignore: never committed. */
  copied: z.array(z.string()),
  /** The branch's commit at the end of the session. */
  head: commit.nullable(),
  /** A merge into the working folder that has begun. */
  applying: z.object({ from: commit, to: commit, who: z.string(), via: z.string() }).nullable(),
})

export type WorktreeNote = z.infer<typeof NOTE>

export interface WorktreeNotes {
  /** The folder of all worktrees. */
  root: string
  write(note: WorktreeNote): Promise<void>
  read(sessionId: string): Promise<WorktreeNote | null>
  remove(sessionId: string): Promise<void>
  all(): Promise<WorktreeNote[]>
}

export const WORKTREES_FOLDER = 'worktrees'

export function openWorktreeNotes(stateRoot: string): WorktreeNotes {
  const root = join(stateRoot, WORKTREES_FOLDER)
  const fileOf = (sessionId: string) => join(root, `${sessionId}.json`)
  async function read(sessionId: string): Promise<WorktreeNote | null> {
    const { data } = NOTE.safeParse(await readJsonFile(fileOf(sessionId)))
    return data?.session_id === sessionId ? data : null
  }
  return {
    root,
    read,
    async write(note) {
      await makeFolder(root, 0o700)
      await writeDurable(fileOf(note.session_id), Buffer.from(`${JSON.stringify(note)}\n`), {
        mode: 0o600,
      })
    },
    remove: (sessionId) => rm(fileOf(sessionId), { force: true }),
    async all() {
      const names = (await entriesIn(root)).filter((name) => name.endsWith('.json'))
      const found = await Promise.all(names.map((name) => read(name.slice(0, -'.json'.length))))
      return found.filter((note) => note !== null)
    },
  }
}

export interface WorktreePaths {
  /** The worktree. */
  tree: string
  /** The repository in which the session commits while it runs. */
  own: string
  /** Git's entry of the worktree in the repository. */
  entry: string
}

export function worktreePaths(
  root: string,
  { session_id, common }: Pick<WorktreeNote, 'session_id' | 'common'>,
): WorktreePaths {
  return {
    tree: join(root, session_id),
    own: join(root, `${session_id}.git`),
    entry: join(common, 'worktrees', session_id),
  }
}
