import { cutSecrets } from './cut-secrets.ts'
import { markOf, type Secret, secretsIn } from './secrets.ts'

/** Replaces every secret with `[redacted NAME]`, in everything that is recorded. */
export interface Redactor {
  /** Redacting twice gives the same text. */
  text(text: string): string
  stream(): RedactedStream
}

export type TextRedactor = Pick<Redactor, 'text'>

/** Redacts bytes that arrive in pieces, including a secret that spans two of them. */
export interface RedactedStream {
  /** Returns the bytes that are safe by now; holds back a possible beginning of a secret. */
  write(bytes: Buffer): Buffer
  /** Returns the rest. */
  end(): Buffer
}

/** A redactor for the secrets in this environment. */
export function createRedactor(environment: NodeJS.ProcessEnv): Redactor {
  const secrets = secretsIn(environment)
  if (secrets.length === 0) return NOTHING_SECRET
  const redacted = createReplacer(secrets)
  const withoutCut = cutSecrets(secrets)
  return {
    text(text) {
      const bytes = Buffer.from(text)
      const { done } = redacted(bytes, true)
      return withoutCut(done === bytes ? text : done.toString())
    },
    stream() {
      let heldBack = NO_BYTES
      return {
        write(bytes) {
          const { done, rest } = redacted(
            heldBack.length > 0 ? Buffer.concat([heldBack, bytes]) : bytes,
            false,
          )
          heldBack = Buffer.from(rest) // a copy, so that the large chunk can be freed
          return done
        },
        end() {
          const { done } = redacted(heldBack, true)
          heldBack = NO_BYTES
          return done
        },
      }
    },
  }
}

const NO_BYTES = Buffer.alloc(0)

const NOTHING_SECRET: Redactor = {
  text: (text) => text,
  stream: () => ({ write: (bytes) => bytes, end: () => NO_BYTES }),
}

interface Needle {
  bytes: Buffer
  instead: Buffer
}

/** `rest` may be the beginning of a secret; pass it in again before the bytes that follow. */
type Replacer = (bytes: Buffer, isEnd: boolean) => { done: Buffer; rest: Buffer }

/** Replaces each secret in the bytes. Where several begin at one place, the longest wins. */
function createReplacer(secrets: readonly Secret[]): Replacer {
  const needles = indexSecrets(secrets)
  return (bytes, isEnd) => {
    const pieces: Buffer[] = []
    let from = 0
    let at = 0
    for (;;) {
      at = needles.next(bytes, at)
      if (at === bytes.length) break
      const found = needles.at(bytes, at, isEnd)
      if (found === 'partial') break
      if (found === null) {
        at++
        continue
      }
      pieces.push(bytes.subarray(from, at), found.instead)
      at += found.bytes.length
      from = at
    }
    if (from === 0 && at === bytes.length) return { done: bytes, rest: NO_BYTES }
    pieces.push(bytes.subarray(from, at))
    return { done: Buffer.concat(pieces), rest: bytes.subarray(at) }
  }
}

interface Needles {
  /** The first position from `from` where a secret may begin; the length if there is none. */
  next(bytes: Buffer, from: number): number
  /** The longest secret that begins here; `partial` if more bytes could make a longer match. */
  at(bytes: Buffer, at: number, isEnd: boolean): Needle | 'partial' | null
}

/** Looks secrets up by their first two bytes, so that the time hardly depends on their number. */
function indexSecrets(secrets: readonly Secret[]): Needles {
  const isStart = new Uint8Array(65536)
  const byStart = new Map<number, Needle[]>()
  const firsts = new Set<number>()
  // marks from an earlier pass are skipped, even if a password is `redacted`
  const marks = [...new Set(secrets.map(({ name }) => name))].map((name) => {
    const bytes = Buffer.from(markOf(name))
    return { bytes, instead: bytes }
  })
  const needles = secrets
    .map(({ name, text }) => ({ bytes: Buffer.from(text), instead: Buffer.from(markOf(name)) }))
    .concat(marks)
    .sort((a, b) => b.bytes.length - a.bytes.length)
  for (const needle of needles) {
    const start = needle.bytes.readUInt16BE(0)
    isStart[start] = 1
    firsts.add(start >> 8)
    byStart.set(start, [...(byStart.get(start) ?? []), needle])
  }
  return {
    next(bytes, from) {
      const last = bytes.length - 1
      let at = from
      // a tight loop, because almost no byte begins a secret
      while (at < last && isStart[(bytes[at]! << 8) | bytes[at + 1]!] === 0) at++
      return at < last || (at === last && firsts.has(bytes[at]!)) ? at : bytes.length
    },
    at(bytes, at, isEnd) {
      const first = bytes[at]!
      if (at + 1 === bytes.length) return !isEnd && firsts.has(first) ? 'partial' : null
      const start = (first << 8) | bytes[at + 1]!
      if (isStart[start] === 0) return null
      for (const needle of byStart.get(start)!) {
        const same = matchingLength(needle.bytes, bytes, at)
        if (same === needle.bytes.length) return needle
        if (!isEnd && at + same === bytes.length) return 'partial'
      }
      return null
    },
  }
}

/** How many bytes from `at` match the needle. */
function matchingLength(needle: Buffer, bytes: Buffer, at: number): number {
  const most = Math.min(needle.length, bytes.length - at)
  let same = 2
  while (same < most && needle[same] === bytes[at + same]) same++
  return same
}
