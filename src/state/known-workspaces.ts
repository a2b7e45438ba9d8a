/** The record in a state folder by which other services and commands of this user find the workspace. */

import { join } from 'node:path'
import * as z from 'zod'
import { writeVolatile } from '../files/durable-write.ts'
import { entriesIn, isOpenFolder } from '../files/folder-names.ts'
import { readRegular, stampOf } from '../files/safe-read.ts'
import { AppError } from '../model/app-error.ts'
import { parsedJson } from './database.ts'
import { ownStateFolder } from './state-folder.ts'

const RECORD = z.object({ root: z.string().min(1), memoryRoot: z.string().min(1) })

export interface KnownWorkspace extends z.infer<typeof RECORD> {
  stateDir: string
  /** When a service or a command opened it last. */
  usedAt: number
}

/** Called at each start. */
export async function rememberWorkspace(
  stateDir: string,
  { root, memoryRoot }: z.infer<typeof RECORD>,
): Promise<void> {
  const text = `${JSON.stringify({ root, memoryRoot })}\n`
  await writeVolatile(recordPath(stateDir), Buffer.from(text), 0o600)
}

/** The workspaces whose state folders are in a folder. Those that other users could write are left out. */
export async function findWorkspaces(around: string): Promise<KnownWorkspace[]> {
  if (!(await isOpenFolder(around))) return []
  const names = await entriesIn(around)
  const found = await Promise.all(names.sort().map((name) => readWorkspace(join(around, name))))
  return found.filter((each) => each !== null)
}

async function readWorkspace(folder: string): Promise<KnownWorkspace | null> {
  const path = recordPath(folder)
  const read = await readRegular(path, { maxBytes: 64 * 1024 })
  const record = read.ok ? RECORD.safeParse(parsedJson(read.bytes.toString())).data : undefined
  if (!record) return null
  try {
    const usedAt = (await stampOf(path))?.mtimeMs ?? 0
    return { ...record, stateDir: await ownStateFolder(folder), usedAt }
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}

function recordPath(stateDir: string): string {
  return join(stateDir, 'workspace.json')
}
