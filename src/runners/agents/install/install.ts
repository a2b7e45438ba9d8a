/** Plans a change of an agent's settings, and carries it out. Nothing is written before the operator agreed. */

import { createHash } from 'node:crypto'
import { dirname } from 'node:path'
import { makeFolder, writeDurable } from '../../../files/durable-write.ts'
import { hasCode } from '../../../files/errno.ts'
import { isFolder } from '../../../files/folder-names.ts'
import { realPathOf } from '../../../files/real-path.ts'
import { removeEmptyFolder, removeFile } from '../../../files/remove-file.ts'
import { decodeUtf8, readRegular } from '../../../files/safe-read.ts'
import { AppError } from '../../../model/app-error.ts'
import type { TrustFile } from '../../../settings/trust-file.ts'
import type { AgentHooks, Place } from './agent-hooks.ts'
import type { HookTarget } from './hook-command.ts'
import type { InstalledFile, InstalledHooks } from './installed-hooks.ts'

/** A change of one settings file. */
export interface SettingsChange {
  agent: AgentHooks
  place: Place
  /** As the agent names it, and without symbolic links: that file is written. */
  path: string
  realPath: string
  /** Null for a missing file. */
  before: string | null
  after: string | null
  /** What Casefile remembers of it, and is to remember; null if nothing of it is left. */
  known: InstalledFile | null
  record: InstalledFile | null
}

export interface ChangePlan {
  agent: AgentHooks
  place: Place
  path: string
  target: HookTarget
  records: InstalledHooks
}

const MAX_BYTES = 4 * 1024 * 1024

export async function planInstall(plan: ChangePlan): Promise<SettingsChange> {
  const { agent, path, target } = plan
  const { realPath, before, base, known } = await withoutHooks(plan)
  const isFolderNew = known?.is_folder_new ?? !(await isFolder(dirname(realPath)))
  const after = agent.add(base, path, target)
  return {
    agent,
    place: plan.place,
    path,
    realPath,
    before,
    after,
    known,
    record: {
      ...difference(base, after),
      is_folder_new: isFolderNew,
      hooks_sha256: hashOf(agent.find(after, path, target) ?? ''),
    },
  }
}

export async function planRemoval(plan: ChangePlan): Promise<SettingsChange> {
  const { realPath, before, base, known } = await withoutHooks(plan)
  const { agent, place, path } = plan
  return { agent, place, path, realPath, before, after: base, known, record: null }
}

export async function carryOut(
  change: SettingsChange,
  records: InstalledHooks,
  trust: TrustFile,
): Promise<void> {
  const { realPath, before, after, known, record } = change
  // first: with a record of a change that was not made, the text does not match, and it counts for nothing
  await records.write(realPath, record)
  if (before === after) return
  if (after === null) {
    await removeFile(realPath)
    if (known?.is_folder_new) await removeEmptyFolder(dirname(realPath))
  } else {
    await makeFolder(dirname(realPath))
    await writeDurable(realPath, Buffer.from(after), {
      expect: before === null ? null : Buffer.from(before),
    })
  }
  await keepTrust(change, trust)
}

/**
 * A project file that an agent acts on needs the operator's trust. A change that they have just agreed to does not end
 * it; a file that they have not trusted stays so.
 */
async function keepTrust(
  { path, place, before, after }: SettingsChange,
  trust: TrustFile,
): Promise<void> {
  if (place === 'user') return
  const trusted = await trust.read()
  if (before !== null && trusted.files.get(path) !== hashOf(before)) return
  const files = new Map(trusted.files)
  if (after === null) files.delete(path)
  else files.set(path, hashOf(after))
  await trust.write({ ...trusted, files }, new Date().toISOString())
}

/** The settings as they were before Casefile changed them, or with its hooks taken out. */
async function withoutHooks({ agent, path, target, records }: ChangePlan) {
  const { realPath, text: before } = await readSettings(path)
  const known = await records.read(realPath)
  const undone = before !== null && known !== null ? undo(before, known) : undefined
  const base =
    undone !== undefined ? undone : before === null ? null : agent.remove(before, path, target)
  return { realPath, before, base, known }
}

/** Follows symbolic links on purpose: many people keep their settings in a repository, and link to them. */
export async function readSettings(
  path: string,
): Promise<{ realPath: string; text: string | null }> {
  const realPath = await realPathIn(path)
  const read = await readRegular(realPath, { maxBytes: MAX_BYTES })
  if (!read.ok && read.reason === 'missing') return { realPath, text: null }
  const decoded = read.ok ? decodeUtf8(read.bytes) : null
  if (decoded?.ok) return { realPath, text: decoded.text }
  const why = read.ok
    ? 'it is not UTF-8'
    : read.reason === 'symbolic_link'
      ? 'it is a symbolic link to nothing'
      : read.detail
  throw unchangeable(path, why)
}

async function realPathIn(path: string): Promise<string> {
  try {
    return await realPathOf(path)
  } catch (error) {
    if (hasCode(error, 'ENOTDIR')) throw unchangeable(path, 'a part of its path is not a folder')
    if (hasCode(error, 'ELOOP')) throw unchangeable(path, 'a symbolic link leads back to itself')
    if (hasCode(error, 'EACCES'))
      throw unchangeable(path, 'there is no permission to open its folder')
    throw error
  }
}

function unchangeable(path: string, why: string): AppError {
  return new AppError('unreadable_file', `${path} cannot be changed: ${why}. Nothing was written.`)
}

/** What changed between two texts, as one range. */
function difference(
  base: string | null,
  after: string,
): Omit<InstalledFile, 'is_folder_new' | 'hooks_sha256'> {
  const from = base ?? ''
  let offset = 0
  while (offset < from.length && from[offset] === after[offset]) offset++
  let tail = 0
  const most = Math.min(from.length, after.length) - offset
  while (tail < most && from.at(-1 - tail) === after.at(-1 - tail)) tail++
  return {
    is_new: base === null,
    offset,
    original: from.slice(offset, from.length - tail),
    length: after.length - tail - offset,
    sha256: hashOf(after),
  }
}

/** The text before the change that the record tells of; undefined if somebody changed the file since. */
function undo(text: string, record: InstalledFile): string | null | undefined {
  if (hashOf(text) !== record.sha256) return undefined
  if (record.is_new) return null
  const { offset, original, length } = record
  return text.slice(0, offset) + original + text.slice(offset + length)
}

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
