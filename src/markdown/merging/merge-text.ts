import { hasChange, mergeLines, mergeParagraphs, type Versions } from '../merge.ts'

/** A merged text. `isLossy`: a change of theirs is not in it, because it conflicts with one of ours. */
export interface MergedText {
  text: string
  isLossy: boolean
}

/**
 * Merges a text by lines. What both sides appended stays, theirs first: it was pushed, so the next merge must still
 * find it behind the base. If they changed the same lines in other ways, the result is ours, and lossy.
 */
export function mergeText(versions: Versions): MergedText {
  const { base, ours, theirs } = versions
  const merged =
    mergeLines(versions) ??
    mergeParagraphs(versions) ??
    (hasChange(versions) ? ours : null) ??
    (hasChange({ base, ours: theirs, theirs: ours }) ? theirs : null) ??
    appended(versions)
  return merged === null ? { text: ours, isLossy: true } : { text: merged, isLossy: false }
}

/** Null if a side changed more than the end, or if there was no text before. */
function appended({ base, ours, theirs }: Versions): string | null {
  if (base.trim() === '' || !ours.startsWith(base) || !theirs.startsWith(base)) return null
  const [own, other] = [ours.slice(base.length), theirs.slice(base.length)]
  const isWhole = (added: string) => base.endsWith('\n') || /^\r?\n/.test(added)
  if (!isWhole(own) || !isWhole(other)) return null
  return withLineEnd(theirs, own) + own
}

/** Merges two new texts: what follows the lines that they begin with is appended. */
export function mergeNewText({ ours, theirs }: Versions): MergedText {
  const [own = [], other = []] = [ours, theirs].map((text) =>
    text.split(/(?<=\n)/).filter((line) => line.endsWith('\n')),
  )
  const end = own.findIndex((line, index) => line !== other[index])
  const base = own.slice(0, end < 0 ? undefined : end).join('')
  const merged = mergeText({ base, ours, theirs })
  return merged.isLossy ? { text: withLineEnd(theirs, ours) + ours, isLossy: false } : merged
}

/** Adds the line ending that a text needs before `next`. */
export function withLineEnd(text: string, next: string): string {
  if (text === '' || next === '' || text.endsWith('\n') || /^\r?\n/.test(next)) return text
  return text + (/\r\n/.test(text) ? '\r\n' : '\n')
}
