import { findBodyStart, readDocument } from './document.ts'
import { choose, mergeLines, type Versions } from './merge.ts'
import { readTrail } from './trail.ts'
import { isNode } from './yaml-package.ts'

/**
 * Merges a file with frontmatter: changes of different keys do not conflict, even on adjacent lines. The caller must
 * check that the result is a valid record.
 */
export function mergeRecord(versions: Versions): string | null {
  const parts = splitAtBody(versions)
  if (!parts) return mergeLines(versions)
  const [heads, bodies] = parts
  return joined(mergeLines(heads) ?? mergeKeys(heads), mergeLines(bodies))
}

/** Splits each version into its frontmatter and its body; null if one is unreadable. */
export function splitAtBody(versions: Versions): [heads: Versions, bodies: Versions] | null {
  const body = mapped(versions, findBodyStart)
  return body && cut(versions, body)
}

/**
 * Merges a session file. Its audit trail is the service's: from `theirs` only the text above it is used. Returns null
 * if they changed the trail, so that their version becomes a conflict copy.
 */
export function mergeSession(versions: Versions): string | null {
  const starts = mapped(versions, (text) => readTrail(text)?.start ?? text.length)!
  const [heads, trails] = cut(versions, starts)
  const known = new Set([...linesIn(trails.base), ...linesIn(trails.ours)])
  if (linesIn(trails.theirs).some((line) => !known.has(line))) return null
  return joined(mergeRecord(heads), trails.ours)
}

/** Returns null also if the first part lacks its final line end. */
function joined(head: string | null, rest: string | null): string | null {
  if (head === null || rest === null) return null
  return head === '' || rest === '' || head.endsWith('\n') ? head + rest : null
}

function mapped<T>(
  versions: Versions,
  of: (text: string) => T | null,
): Record<keyof Versions, T> | null {
  const [base, ours, theirs] = [of(versions.base), of(versions.ours), of(versions.theirs)]
  return base === null || ours === null || theirs === null ? null : { base, ours, theirs }
}

/** Splits each version at an offset. */
function cut(
  { base, ours, theirs }: Versions,
  at: Record<keyof Versions, number>,
): [Versions, Versions] {
  const part = (from: Record<keyof Versions, number>, to?: Record<keyof Versions, number>) => ({
    base: base.slice(from.base, to?.base),
    ours: ours.slice(from.ours, to?.ours),
    theirs: theirs.slice(from.theirs, to?.theirs),
  })
  return [part({ base: 0, ours: 0, theirs: 0 }, at), part(at)]
}

function linesIn(text: string): string[] {
  return text.split(/\r\n|\n|\r/).filter((line) => line.trim() !== '')
}

/** Returns the lines of a key, from those that each version has for it (empty without the key); null for a conflict. */
type Decide = (lines: Versions, key: string) => string | null

/** Merges frontmatter by key: each key gets all its lines from one of the versions. Null also if it is unreadable. */
export function mergeKeys(heads: Versions, decide: Decide = choose): string | null {
  const blocks = mapped(heads, (head) =>
    head === '' ? new Map<string, string>() : keyBlocks(head),
  )
  if (!blocks) return null
  const { base, ours, theirs } = blocks
  const merged = new Map<string, string>()
  const names = [...ours.keys()]
  for (const [index, name] of [...theirs.keys()].entries()) {
    if (ours.has(name)) continue
    const before = [...theirs.keys()][index - 1]
    names.splice(before === undefined ? 0 : names.indexOf(before) + 1, 0, name)
  }
  for (const name of names) {
    const lines = {
      base: base.get(name) ?? '',
      ours: ours.get(name) ?? '',
      theirs: theirs.get(name) ?? '',
    }
    const block = decide(lines, name)
    if (block === null) return null
    merged.set(name, block)
  }
  return [...merged.values()].join('')
}

/** Names for the text before the first key and after the last line. */
const [OPENING, CLOSING] = ['\n', '\n\n']

/** Returns the lines of each frontmatter key, and the text around them. */
function keyBlocks(head: string): Map<string, string> | null {
  const read = readDocument(head)
  if (!read.ok || !read.document.front || read.document.front.map.flow) return null
  const { start, end, map } = read.document.front
  const starts: [string, number][] = [[OPENING, 0]]
  for (const [name, { key }] of map.pairs) {
    const offset = isNode(key) ? key.range![0] : 0
    starts.push([name, start + map.source.lastIndexOf('\n', offset - 1) + 1])
  }
  starts.push([CLOSING, end])
  return new Map(
    starts.map(([name, from], index) => [name, head.slice(from, starts[index + 1]?.[1])]),
  )
}
