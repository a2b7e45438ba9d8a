/** Searches what is about to leave this machine for secrets. */

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { decodeUtf8, readRegular } from '../files/safe-read.ts'
import { NOT_SECRETS_FILE } from '../workspace/record-paths.ts'
import { knownSecrets } from './known-secrets.ts'
import type { MemoryGit } from './memory-git.ts'
import { SyncStop } from './sync-stop.ts'
import { type Blobs, createBlobs } from './trees.ts'

export interface NamedBlob {
  path: string
  id: string
}

/** Replaces the values of secret variables in a text; see `sessions/redaction.ts`. */
export type Redact = (text: string) => string

interface Search {
  files: readonly NamedBlob[]
  /** What is in one of these blobs is not new. */
  known: ReadonlySet<string>
  redact: Redact
  /** What is true and to do if something is found. */
  then: string
}

interface Finding {
  /** Such as `a.md:1 contains`. */
  where: string
  what: string
  text: string
}

interface LineFinding {
  line: number
  what: string
  text: string
}

const SOME = 200
const MAX_NAMED = 5

/** Throws a `SyncStop` if something new in these files looks like a secret. Other objects than files are passed over. */
export async function mustHaveNoSecret(git: MemoryGit, search: Search): Promise<void> {
  const { files, known, redact, then } = search
  const found: Finding[] = []
  await inParts(git, files, async (blobs, { path, id }) => {
    const bytes = await blobs.find(id)
    if (!bytes) return
    const name = shownPath(path, redact)
    found.push(
      ...findingsIn(textOf(bytes), redact).map(({ line, what, text }) => ({
        where: `${name}:${line} contains`,
        what,
        text,
      })),
      ...findingsIn(path, redact).map(({ what, text }) => ({
        where: `the name of ${name} contains`,
        what,
        text,
      })),
    )
  })
  if (found.length === 0) return
  const allowed = await allowedCodes(git)
  const open = new Set(found.filter(({ text }) => !allowed.has(codeOf(text))))
  await inParts(
    git,
    [...known].map((id) => ({ id })),
    async (blobs, { id }) => {
      const bytes = open.size > 0 && (await blobs.find(id))
      if (!bytes) return
      const texts = new Set(findingsIn(textOf(bytes), redact).map(({ text }) => text))
      for (const each of open) if (texts.has(each.text)) open.delete(each)
    },
  )
  if (open.size === 0) return
  const named = new Set(
    [...open].map(({ where, what, text }) => `${where} ${what} (${codeOf(text)})`),
  )
  const more = named.size > MAX_NAMED ? `, and there are ${named.size - MAX_NAMED} more` : ''
  throw new SyncStop(
    'secret_found',
    `${[...named].slice(0, MAX_NAMED).join('; ')}${more}. ${then} What is no secret, or no longer valid, can leave once its code is a line of ${git.prefix}${NOT_SECRETS_FILE}.`,
  )
}

/** Loads a part of the blobs at a time: all versions of all files may be large. */
async function inParts<T extends { id: string }>(
  git: MemoryGit,
  all: readonly T[],
  look: (blobs: Blobs, each: T) => Promise<void>,
): Promise<void> {
  for (let at = 0; at < all.length; at += SOME) {
    const blobs = createBlobs(git)
    const some = all.slice(at, at + SOME)
    await blobs.load(some.map(({ id }) => id))
    for (const each of some) await look(blobs, each)
  }
}

/** Without the NULs between the letters of UTF-16. What is not UTF-8 may be Latin-1. */
function textOf(bytes: Buffer): string {
  const decoded = decodeUtf8(bytes)
  return (decoded.ok ? decoded.text : bytes.toString('latin1')).replaceAll('\0', '')
}

function shownPath(path: string, redact: Redact): string {
  const found = knownSecrets(path)
  const shown = found.length === 0 ? path : path.replaceAll('\\', '')
  return found.reduce((rest, { text }) => rest.replaceAll(text, '…'), redact(shown))
}

function findingsIn(text: string, redact: Redact): LineFinding[] {
  const known = knownSecrets(text).map((each) => ({
    ...each,
    what: `what looks like ${each.what}`,
  }))
  return [...valuesIn(text, redact), ...known]
}

/** The lines with the value of a secret variable. */
function valuesIn(text: string, redact: Redact): LineFinding[] {
  if (redact(text) === text) return []
  const of = (part: string, line: number) => {
    const [, name = 'a variable'] = /\[redacted ([^\]]+)\]/.exec(redact(part)) ?? []
    return { line, what: `the value of ${name}`, text: part.trim() }
  }
  const lines = text
    .split('\n')
    .flatMap((line, index) => (redact(line) === line ? [] : [of(line, index + 1)]))
  return lines.length > 0 ? lines : [of(text, 1)]
}

/** Says which finding is meant, and nothing about it. */
function codeOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
}

async function allowedCodes({ top, prefix }: MemoryGit): Promise<Set<string>> {
  const read = await readRegular(join(top, prefix, NOT_SECRETS_FILE), { maxBytes: 1024 * 1024 })
  return new Set(read.ok ? read.bytes.toString().match(/^[\da-f]{12}\b/gm) : [])
}
