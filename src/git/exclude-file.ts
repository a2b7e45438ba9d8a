/** Edits `info/exclude`, the list of what git ignores in one clone. */

import { resolve } from 'node:path'
import { makeFolder, writeDurable } from '../files/durable-write.ts'
import { readRegular } from '../files/safe-read.ts'
import { AppError } from '../model/app-error.ts'

/** Returns a pattern for exactly this path from the top of a repository. */
export function excludePattern(path: string): string {
  return path === '' ? '' : `/${path.replace(/[\\*?[\]!#]/g, '\\$&')}`
}

export interface ExcludeEdit {
  before: Buffer | null
  after: Buffer
}

/** The file with these lines added. Throws `unreadable_file`. */
export async function planExclude(exclude: string, lines: readonly string[]): Promise<ExcludeEdit> {
  const read = await readRegular(exclude, { maxBytes: 1024 * 1024 })
  if (!read.ok && read.reason !== 'missing') {
    throw new AppError('unreadable_file', `${exclude} cannot be read: ${read.detail}.`)
  }
  const present = read.ok ? read.bytes : null
  const gap = present && present.length > 0 && present.at(-1) !== 0x0a ? '\n' : ''
  const added = lines.map((line) => `${line}\n`).join('')
  const after = Buffer.concat([present ?? Buffer.alloc(0), Buffer.from(gap + added)])
  return { before: present, after }
}

export async function writeExclude(exclude: string, { before, after }: ExcludeEdit): Promise<void> {
  await makeFolder(resolve(exclude, '..'))
  await writeDurable(exclude, after, { expect: before })
}
