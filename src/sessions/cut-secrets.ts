import { markOf, type Secret } from './secrets.ts'

/** Shorter parts say little about a secret and match by chance. */
const MIN_PART = 6
/** Longer texts are not messages that somebody shortened with `…`. */
const MAX_TEXT = 4096

/**
 * Redacts secrets in short messages that were shortened with `…` before redaction: the beginning of a secret before
 * the `…`, or the end of one after it.
 */
export function cutSecrets(secrets: readonly Secret[]): (text: string) => string {
  return (text) => {
    if (text.length > MAX_TEXT || !text.includes('…')) return text
    return text
      .split('…')
      .map((part, index, { length }) => {
        const begun = index > 0 ? withoutEnd(secrets, part) : part
        return index < length - 1 ? withoutBeginning(secrets, begun) : begun
      })
      .join('…')
  }
}

function withoutEnd(secrets: readonly Secret[], part: string): string {
  const found = longest(secrets, (secret, length) => part.startsWith(secret.slice(-length)))
  return found === null ? part : markOf(found.name) + part.slice(found.length)
}

function withoutBeginning(secrets: readonly Secret[], part: string): string {
  const found = longest(secrets, (secret, length) => part.endsWith(secret.slice(0, length)))
  return found === null ? part : part.slice(0, -found.length) + markOf(found.name)
}

function longest(
  secrets: readonly Secret[],
  isThere: (secret: string, length: number) => boolean,
): { name: string; length: number } | null {
  let best: { name: string; length: number } | null = null
  for (const { name, text } of secrets) {
    const least = Math.max(MIN_PART, (best?.length ?? 0) + 1)
    for (let length = text.length - 1; length >= least; length--) {
      if (!isThere(text, length)) continue
      best = { name, length }
      break
    }
  }
  return best
}
